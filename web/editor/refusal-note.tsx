/** Why the last thing that was tried was not done, or what had to be cut for it. */
import { X } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import type { CutEdge } from '../../src/dsl/edit/index.js';
import { Button, IconButton } from '../parts/button.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './editor.module.css';
import { useEditor, useEditorState } from './editor-context.js';

const texts = defineTexts({
  en: {
    close: 'Close the note',
    cut: (edges: string) => `No connection crosses the border of a body. Cut: ${edges}.`,
    undo: 'Undo the move',
  },
  zh: {
    close: '关闭提示',
    cut: (edges: string) => `连接不能跨越容器的边界。已断开：${edges}。`,
    undo: '撤销移动',
  },
});

const SHOWN_MS = 8_000;
/** Connections that are named; the others are counted. */
const MAX_NAMED = 3;

export function RefusalNote() {
  const words = useTexts(texts);
  const { store } = useEditor();
  const { refusal, cut, document } = useEditorState();
  useEffect(() => {
    if (refusal === undefined && cut.length === 0) return undefined;
    const timer = setTimeout(() => store.refuse(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [refusal, cut, store]);
  const nameOf = (id: string) => document.components[id]?.name ?? id;
  return (
    <div role="status">
      {refusal !== undefined && <Note className={style.refusal}>{refusal.message}</Note>}
      {cut.length > 0 && (
        <Note className={`${style.refusal} ${style.cut}`}>
          {words.cut(edgesText(cut, nameOf))}
          <Button look="quiet" onClick={() => store.undo()}>
            {words.undo}
          </Button>
        </Note>
      )}
    </div>
  );
}

function Note({ className, children }: { readonly className: string | undefined; readonly children: ReactNode }) {
  const words = useTexts(texts);
  const { store } = useEditor();
  return (
    <p className={className}>
      {children}
      <IconButton label={words.close} onClick={() => store.refuse(undefined)}>
        <X size={14} aria-hidden="true" />
      </IconButton>
    </p>
  );
}

function edgesText(cut: readonly CutEdge[], nameOf: (id: string) => string): string {
  const named = cut.slice(0, MAX_NAMED).map(({ from, to }) => `${nameOf(from)} → ${nameOf(to)}`);
  return [...named, ...(cut.length > MAX_NAMED ? [`+ ${cut.length - MAX_NAMED}`] : [])].join(', ');
}
