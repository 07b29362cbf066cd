/** An edge of the editor: it can be chosen, and something can be put into it. */
import { BaseEdge, EdgeLabelRenderer, type EdgeProps, getBezierPath } from '@xyflow/react';
import { Plus, X } from 'lucide-react';
import { type MouseEvent, memo } from 'react';
import type { FlowEdge } from '../../canvas/flow.js';
import { Way } from '../../canvas/nodes/way.js';
import { defineTexts, useTexts } from '../../shell/texts.js';
import { useBoardActions } from './board-actions.js';
import style from './edited-way.module.css';

const texts = defineTexts({
  en: { insert: 'Insert a component here', remove: 'Remove this connection' },
  zh: { insert: '在此处插入组件', remove: '删除此连接' },
});

export const EditedWay = memo(function EditedWay(props: EdgeProps<FlowEdge>) {
  const { id, selected } = props;
  const words = useTexts(texts);
  const { insertInto, removeEdge } = useBoardActions();
  const [path, x, y] = getBezierPath({ ...props, curvature: 0.3 });
  const stop = (act: (event: MouseEvent) => void) => (event: MouseEvent) => {
    event.stopPropagation();
    act(event);
  };
  return (
    <g className={selected === true ? style.chosen : style.edge}>
      <Way {...props} />
      <BaseEdge path={path} className={style.grip} interactionWidth={18} />
      {selected === true && (
        <EdgeLabelRenderer>
          <div
            className={`nodrag nopan ${style.tools}`}
            style={{ transform: `translate(-50%, -50%) translate(${x}px,${y}px)` }}
          >
            <button
              type="button"
              aria-label={words.insert}
              title={words.insert}
              onClick={stop((event) => insertInto(id, event))}
            >
              <Plus size={14} aria-hidden="true" />
            </button>
            <button type="button" aria-label={words.remove} title={words.remove} onClick={stop(() => removeEdge(id))}>
              <X size={14} aria-hidden="true" />
            </button>
          </div>
        </EdgeLabelRenderer>
      )}
    </g>
  );
});
