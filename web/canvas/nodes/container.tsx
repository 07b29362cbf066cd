/** A Loop, Iteration or Parallel: a frame around its body, with the pass it is in. */
import type { NodeProps } from '@xyflow/react';
import { memo } from 'react';
import { useTexts } from '../../shell/texts.js';
import { type CardFlowNode, ENTRY, EXCEPTION, EXIT } from '../flow.js';
import { kindOf } from '../kinds.js';
import { useNodePicture } from '../live/live-run.js';
import { stateTexts, tellingText } from '../live/node-state.js';
import style from './container.module.css';
import { NodeNames } from './names.js';
import { NodeState, Rounds } from './node-state.js';
import { Port } from './port.js';

export const Container = memo(function Container({ data: { node }, selected }: NodeProps<CardFlowNode>) {
  const states = useTexts(stateTexts);
  const picture = useNodePicture(node.id);
  const { icon: Icon } = kindOf(node.type);
  const status = picture?.status ?? 'idle';
  const isTelling = status === 'failed' || status === 'skipped';
  const about = picture !== undefined && isTelling ? tellingText(picture, states) : node.summary;
  return (
    <div className={`${style.container} ${style[`is-${status}`] ?? ''} ${selected ? style.selected : ''}`}>
      <NodeNames node={node} picture={picture} about={about} />
      <Port id={ENTRY} kind="target" className={style.entry} />
      <Port id={EXIT} kind="source" className={style.exit} />
      {node.hasExceptions && <Port id={EXCEPTION} kind="source" className={style.exception} />}
      <div className={style.head}>
        <Icon size={17} aria-hidden="true" />
        <strong title={node.name}>{node.name}</strong>
        <span className={style.type}>{node.type}</span>
        <span className={style.about} title={about}>
          {about}
        </span>
        {picture !== undefined && <Rounds node={picture} />}
        {picture !== undefined && <NodeState node={picture} />}
      </div>
    </div>
  );
});

/** Where a body begins. */
export const Start = memo(function Start({ data: { node }, selected }: NodeProps<CardFlowNode>) {
  const picture = useNodePicture(node.id);
  const { icon: Icon } = kindOf(node.type);
  const status = picture?.status ?? 'idle';
  return (
    <div className={`${style.start} ${style[`is-${status}`] ?? ''} ${selected ? style.selected : ''}`}>
      <NodeNames node={node} picture={picture} about="" />
      <Icon size={15} aria-hidden="true" />
      <span>{node.name}</span>
      <Port id={EXIT} kind="source" className={style.startExit} />
    </div>
  );
});
