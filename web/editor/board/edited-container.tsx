/** A container of the editor: it can be given another size, and says when it would take what is dragged. */
import { type NodeProps, NodeResizeControl, type ResizeControlVariant } from '@xyflow/react';
import { memo } from 'react';
import type { CardFlowNode } from '../../canvas/flow.js';
import { Container } from '../../canvas/nodes/container.js';
import { useObservable } from '../../parts/use-observable.js';
import { useBoardActions } from './board-actions.js';
import style from './edited-container.module.css';

const LINE = 'line' as ResizeControlVariant;

export const EditedContainer = memo(function EditedContainer(props: NodeProps<CardFlowNode>) {
  const { id, selected } = props;
  const { target$, leastSizeOf } = useBoardActions();
  const isTarget = useObservable(target$, undefined) === id;
  const least = selected ? leastSizeOf(id) : undefined;
  const bounds = { minWidth: least?.width ?? 0, minHeight: least?.height ?? 0 };
  return (
    <>
      <Container {...props} />
      {isTarget && <div className={style.target} />}
      {least !== undefined && (
        <>
          <NodeResizeControl {...bounds} position="right" variant={LINE} className={style.line ?? ''} />
          <NodeResizeControl {...bounds} position="bottom" variant={LINE} className={style.line ?? ''} />
          <NodeResizeControl {...bounds} position="bottom-right" className={style.corner ?? ''} />
        </>
      )}
    </>
  );
});
