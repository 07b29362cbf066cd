/** The state of a node on its card. */

import type { NodePicture } from '../../../src/canvas/picture/picture.js';
import { useTexts } from '../../shell/texts.js';
import { useRunTime } from '../live/live-run.js';
import { newestActivation, roundsText, STATE_ICONS, stateDetail, stateTexts } from '../live/node-state.js';
import style from './node-state.module.css';

/** A word, an icon and a colour; with how long it takes. */
export function NodeState({ node }: { readonly node: NodePicture }) {
  const words = useTexts(stateTexts);
  const { status } = node;
  if (status === 'idle') return null;
  const Icon = STATE_ICONS[status];
  return (
    <span className={`${style.state} ${style[status]}`}>
      <Icon size={13} aria-hidden="true" />
      {words.states[status]}
      {status === 'running' ? (
        <RunningDetail node={node} />
      ) : (
        <span className={style.detail}>{stateDetail(node, words, 0)}</span>
      )}
    </span>
  );
}

function RunningDetail({ node }: { readonly node: NodePicture }) {
  const words = useTexts(stateTexts);
  const nowMs = useRunTime(newestActivation(node)?.startedAtMs ?? 0);
  return <span className={style.detail}>{stateDetail(node, words, nowMs)}</span>;
}

/** Which pass of how many a container is in. */
export function Rounds({ node }: { readonly node: NodePicture }) {
  const text = roundsText(node, useTexts(stateTexts));
  return text === '' ? null : <span className={style.rounds}>{text}</span>;
}
