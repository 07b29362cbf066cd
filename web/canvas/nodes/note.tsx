/** A remark of the author, as text. */
import type { NodeProps } from '@xyflow/react';
import { memo } from 'react';
import type { NoteFlowNode } from '../flow.js';
import style from './note.module.css';

export const Note = memo(function Note({ data: { note } }: NodeProps<NoteFlowNode>) {
  return (
    <div className={style.note}>
      {note.name !== '' && <strong>{note.name}</strong>}
      <p>{note.text}</p>
    </div>
  );
});
