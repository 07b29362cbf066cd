/** An edge: marked when it was taken, named when it is one of several ways. */
import { type EdgeProps, getBezierPath } from '@xyflow/react';
import { memo } from 'react';
import type { FlowEdge } from '../flow.js';
import { useEdgePicture } from '../live/live-run.js';
import style from './way.module.css';

/** Longer names are cut; the row of the branch has all of it. */
const MAX_LABEL = 22;

export const Way = memo(function Way(props: EdgeProps<FlowEdge>) {
  const { data, source, target } = props;
  const [path, labelX, labelY] = getBezierPath({ ...props, curvature: 0.3 });
  const taken = useEdgePicture(source, target);
  const kind = data?.kind ?? 'way';
  const label = [cut(data?.label ?? ''), taken !== undefined && taken.count > 1 ? `× ${taken.count}` : '']
    .filter((part) => part !== '')
    .join(' ');
  return (
    <>
      <path d={path} className={`${style.way} ${style[kind]} ${taken === undefined ? '' : style.taken}`} />
      {label !== '' && (
        <text x={labelX} y={labelY} className={`${style.label} ${taken === undefined ? '' : style.takenLabel}`}>
          {label}
        </text>
      )}
    </>
  );
});

function cut(label: string): string {
  return label.length > MAX_LABEL ? `${label.slice(0, MAX_LABEL)}…` : label;
}
