/** Why the last thing that was tried was not done. */
import { X } from 'lucide-react';
import { useEffect } from 'react';
import { IconButton } from '../parts/button.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './editor.module.css';
import { useEditor, useEditorState } from './editor-context.js';

const texts = defineTexts({ en: { close: 'Close the note' }, zh: { close: '关闭提示' } });

const SHOWN_MS = 8_000;

export function RefusalNote() {
  const words = useTexts(texts);
  const { store } = useEditor();
  const { refusal } = useEditorState();
  useEffect(() => {
    if (refusal === undefined) return undefined;
    const timer = setTimeout(() => store.refuse(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [refusal, store]);
  return (
    <div role="status">
      {refusal !== undefined && (
        <p className={style.refusal}>
          {refusal.message}
          <IconButton label={words.close} onClick={() => store.refuse(undefined)}>
            <X size={14} aria-hidden="true" />
          </IconButton>
        </p>
      )}
    </div>
  );
}
