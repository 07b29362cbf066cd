/** The size of a container, by keyboard: what its handles on the canvas do. */
import { useState } from 'react';
import type { Size } from '../../canvas/sizes.js';
import { useTexts } from '../../shell/texts.js';
import { useEditor, useEditorState } from '../editor-context.js';
import { editorDrawing, editorPlacement } from '../model/editor-store.js';
import style from './inspector.module.css';
import { inspectorTexts } from './inspector-texts.js';

export function SizeSection({ id }: { readonly id: string }) {
  const words = useTexts(inspectorTexts);
  const { store } = useEditor();
  const { document, spots } = useEditorState();
  const size = spots && editorPlacement(editorDrawing(document), spots).get(id);
  if (size === undefined) return null;
  return (
    <section className={style.section} aria-label={words.size}>
      <h3>{words.size}</h3>
      <div className={style.sizes}>
        {(['width', 'height'] as const).map((side) => (
          <SideField
            key={side}
            label={words[side]}
            value={size[side]}
            onChange={(value) => store.resize(id, { ...pick(size), [side]: value })}
          />
        ))}
      </div>
    </section>
  );
}

interface SideFieldProps {
  readonly label: string;
  readonly value: number;
  readonly onChange: (value: number) => void;
}

/** A number is taken when its field is left, so that half of it is never one. */
function SideField({ label, value, onChange }: SideFieldProps) {
  const [text, setText] = useState<string>();
  const leave = () => {
    const next = Number(text);
    if (text !== undefined && text.trim() !== '' && Number.isFinite(next) && next !== value) onChange(next);
    setText(undefined);
  };
  return (
    <label>
      {label}
      <input
        type="number"
        min={0}
        step={10}
        value={text ?? Math.round(value)}
        onChange={(event) => setText(event.target.value)}
        onBlur={leave}
        onKeyDown={(event) => {
          if (event.key === 'Enter') leave();
        }}
      />
    </label>
  );
}

function pick({ width, height }: Size): Size {
  return { width, height };
}
