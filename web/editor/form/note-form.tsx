/** The form of a note. */
import { StickyNote, X } from 'lucide-react';
import { useId } from 'react';
import { IconButton } from '../../parts/button.js';
import { useTexts } from '../../shell/texts.js';
import { useEditor } from '../editor-context.js';
import { editorDrawing } from '../model/editor-store.js';
import { changeNote, type NoteText } from '../model/notes.js';
import style from './inspector.module.css';
import { inspectorTexts } from './inspector-texts.js';

export function NoteForm({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const words = useTexts(inspectorTexts);
  const field = useId();
  const { store } = useEditor();
  const note = editorDrawing(store.document).notes.find((one) => one.id === id);
  if (note === undefined) return null;
  const change = (next: Partial<NoteText>) =>
    store.edit((document) => changeNote(document, id, next), { about: `note ${id} ${Object.keys(next).join()}` });
  return (
    <>
      <header className={style.head}>
        <StickyNote size={17} aria-hidden="true" />
        <strong className={style.name}>{words.note}</strong>
        <IconButton label={words.close} onClick={onClose}>
          <X size={16} aria-hidden="true" />
        </IconButton>
      </header>
      <div className={style.body}>
        <label htmlFor={`${field}-name`}>{words.noteTitle}</label>
        <input id={`${field}-name`} value={note.name} onChange={(event) => change({ name: event.target.value })} />
        <label htmlFor={`${field}-text`}>{words.text}</label>
        <textarea
          id={`${field}-text`}
          rows={8}
          value={note.text}
          onChange={(event) => change({ text: event.target.value })}
        />
      </div>
    </>
  );
}
