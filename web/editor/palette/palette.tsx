/** The palette beside the canvas, and the same list where something is to be added. */
import { PanelLeftClose } from 'lucide-react';
import { useEffect, useId, useRef } from 'react';
import { IconButton } from '../../parts/button.js';
import { defineTexts, useTexts } from '../../shell/texts.js';
import { type Adding, useEditor } from '../editor-context.js';
import type { CatalogueEntry } from '../model/catalogue.js';
import { addOfType } from '../model/commands.js';
import style from './palette.module.css';
import { PaletteList } from './palette-list.js';

const texts = defineTexts({
  en: { title: 'Components', close: 'Close the palette', add: 'Add a component' },
  zh: { title: '组件', close: '关闭组件面板', add: '添加组件' },
});

/** What is chosen comes behind the component that is selected, or beside the others. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const words = useTexts(texts);
  const title = useId();
  const { store, model } = useEditor();
  const choose = (entry: CatalogueEntry) => {
    const { selection, document } = store.state;
    const [from] = selection;
    const isBehind = selection.length === 1 && from !== undefined && document.components[from] !== undefined;
    addOfType(store, entry, { ...(isBehind && { behind: { from } }), model });
  };
  return (
    <section className={style.palette} aria-labelledby={title}>
      <div className={style.head}>
        <h2 id={title}>{words.title}</h2>
        <IconButton label={words.close} onClick={onClose}>
          <PanelLeftClose size={16} aria-hidden="true" />
        </IconButton>
      </div>
      <PaletteList onChoose={choose} />
    </section>
  );
}

/** Size of the picker, and its least distance to the border of the window. */
const SIZE = { width: 240, height: 320 } as const;
const EDGE = 8;

/** Asks what to add where a handle, an edge or a loose end wants something. */
export function AddPicker({ adding }: { readonly adding: Adding }) {
  const words = useTexts(texts);
  const { store, ask, model } = useEditor();
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    const close = (event: PointerEvent) => {
      if (box.current?.contains(event.target as Node) === false) ask(undefined);
    };
    addEventListener('pointerdown', close, true);
    return () => removeEventListener('pointerdown', close, true);
  }, [ask]);
  const { screen, ...spot } = adding;
  const left = Math.max(EDGE, Math.min(screen.x, innerWidth - SIZE.width - EDGE));
  const top = Math.max(EDGE, Math.min(screen.y, innerHeight - SIZE.height - EDGE));
  const choose = (entry: CatalogueEntry) => {
    ask(undefined);
    addOfType(store, entry, { ...spot, model });
  };
  return (
    <section
      ref={box}
      className={style.picker}
      aria-label={words.add}
      style={{ left, top }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        ask(undefined);
      }}
    >
      <PaletteList onChoose={choose} hasFocus />
    </section>
  );
}
