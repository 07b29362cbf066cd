/** What can be done with the nodes that are selected, above them. */
import { NodeToolbar, Position } from '@xyflow/react';
import { Boxes, Copy, FolderInput, Plus, ShieldAlert, SquarePlus, Trash2 } from 'lucide-react';
import type { MouseEvent, ReactNode } from 'react';
import { handleErrors } from '../../../src/dsl/edit/index.js';
import type { Drawing } from '../../canvas/drawing.js';
import { IconButton } from '../../parts/button.js';
import { Menu } from '../../parts/menu.js';
import { MenuItem } from '../../parts/menu-item.js';
import { useTexts } from '../../shell/texts.js';
import { useEditor, useEditorState, useSelected } from '../editor-context.js';
import { movable, moveInto, otherBodies } from '../model/bodies.js';
import { duplicate, removeAll, wrapIn } from '../model/commands.js';
import { boardTexts } from './board-texts.js';
import style from './node-tools.module.css';

export function NodeTools({ drawing }: { readonly drawing: Drawing }) {
  const words = useTexts(boardTexts);
  const { store, ask } = useEditor();
  const selection = useSelected();
  const [first] = selection;
  if (first === undefined) return null;
  const node = drawing.nodes.find(({ id }) => id === first);
  const isOne = selection.length === 1;
  const isStart = selection.every((id) => drawing.nodes.find((one) => one.id === id)?.shape === 'start');
  const at = ({ currentTarget }: MouseEvent) => {
    const { left, bottom } = currentTarget.getBoundingClientRect();
    return { x: left, y: bottom };
  };
  const name = isOne ? (node?.name ?? first) : words.many(selection.length);
  return (
    <NodeToolbar nodeId={[...selection]} isVisible position={Position.Top} offset={8}>
      <div role="toolbar" aria-label={words.tools(name)} className={style.tools}>
        {!isOne && <span className={style.count}>{name}</span>}
        {isOne && node !== undefined && (
          <Tool label={words.addBehind} onClick={(event) => ask({ behind: { from: first }, screen: at(event) })}>
            <Plus size={16} aria-hidden="true" />
          </Tool>
        )}
        {isOne && node?.shape === 'container' && (
          <Tool label={words.addInside} onClick={(event) => ask({ parent: first, screen: at(event) })}>
            <SquarePlus size={16} aria-hidden="true" />
          </Tool>
        )}
        {!isStart && (
          <>
            {drawing.nodes.some(({ id }) => selection.includes(id)) && <WrapMenu selection={selection} />}
            <MoveMenu drawing={drawing} selection={selection} />
            {isOne && node?.hasExceptions === false && node.type.toLowerCase() !== 'begin' && (
              <Tool
                label={words.errorExit}
                onClick={() => store.edit((document) => handleErrors(document, first, 'goto'))}
              >
                <ShieldAlert size={16} aria-hidden="true" />
              </Tool>
            )}
            <Tool label={words.duplicate} onClick={() => duplicate(store, selection)}>
              <Copy size={16} aria-hidden="true" />
            </Tool>
            <Tool label={words.remove} onClick={() => removeAll(store, selection)}>
              <Trash2 size={16} aria-hidden="true" />
            </Tool>
          </>
        )}
      </div>
    </NodeToolbar>
  );
}

interface ToolProps {
  readonly label: string;
  readonly onClick: (event: MouseEvent) => void;
  readonly children: ReactNode;
}

function Tool({ label, onClick, children }: ToolProps) {
  return (
    <IconButton label={label} onClick={onClick}>
      {children}
    </IconButton>
  );
}

/** Bodies that the selection can be moved into, and the way out of its own; nothing where there is neither. */
function MoveMenu({ drawing, selection }: { readonly drawing: Drawing; readonly selection: readonly string[] }) {
  const words = useTexts(boardTexts);
  const { store } = useEditor();
  const { document } = useEditorState();
  const ids = movable(drawing, selection);
  const { into, outOf } = otherBodies(document, drawing, ids);
  if (into.length === 0 && outOf === undefined) return null;
  return (
    <Menu
      opener={
        <IconButton label={words.move}>
          <FolderInput size={16} aria-hidden="true" />
        </IconButton>
      }
    >
      {outOf !== undefined && (
        <MenuItem onSelect={() => moveInto(store, ids, outOf.parent)}>{words.moveOut(outOf.name)}</MenuItem>
      )}
      {into.map(({ id, name }) => (
        <MenuItem key={id} onSelect={() => moveInto(store, ids, id)}>
          {words.moveIn(name)}
        </MenuItem>
      ))}
    </Menu>
  );
}

/** Containers of the server, whichever it has. */
function WrapMenu({ selection }: { readonly selection: readonly string[] }) {
  const words = useTexts(boardTexts);
  const { store, entries } = useEditor();
  return (
    <Menu
      opener={
        <IconButton label={words.wrap}>
          <Boxes size={16} aria-hidden="true" />
        </IconButton>
      }
    >
      {entries
        .filter((entry) => entry.has_body)
        .map((entry) => (
          <MenuItem key={entry.name} onSelect={() => wrapIn(store, selection, entry)}>
            {words.wrapIn(entry.name)}
          </MenuItem>
        ))}
    </Menu>
  );
}
