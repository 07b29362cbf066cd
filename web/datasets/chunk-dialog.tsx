/** Writes a chunk, a new one or another text of one. What is typed is kept until it is saved or thrown away. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { ErrorNote } from '../parts/notes.js';
import { useDraft } from '../parts/use-draft.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { type ChunkItem, saveChunk } from './chunk-data.js';
import { chunksTexts } from './chunks-texts.js';
import style from './datasets.module.css';

interface ChunkDialogProps {
  /** Path of its document. */
  readonly path: string;
  /** Undefined for a new one. */
  readonly chunk: ChunkItem | undefined;
  readonly onClose: () => void;
}

export function ChunkDialog({ path, chunk, onClose }: ChunkDialogProps) {
  const words = useTexts(chunksTexts);
  const client = useClient();
  const queries = useQueryClient();
  const field = useId();
  const [draft, keepDraft] = useDraft(`chunk.${chunk?.id ?? path}`);
  const [text, setText] = useState(draft === '' ? (chunk?.content ?? '') : draft);
  const { mutate, isPending, error } = useMutation({
    mutationFn: (form: FormData) => saveChunk(client, path, { content: text, ...wordsIn(form) }, chunk?.id),
    onSuccess: async () => {
      keepDraft('');
      await queries.invalidateQueries({ queryKey: ['datasets'] });
      onClose();
    },
  });
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    mutate(new FormData(event.currentTarget));
  };
  return (
    <Dialog isWide title={chunk === undefined ? words.addTitle : words.editTitle} onClose={onClose}>
      <form className={style.form} onSubmit={save}>
        <label htmlFor={`${field}t`}>{words.text}</label>
        <textarea
          id={`${field}t`}
          rows={14}
          required
          value={text}
          aria-describedby={`${field}h`}
          onChange={({ target }) => {
            setText(target.value);
            keepDraft(target.value);
          }}
        />
        <p id={`${field}h`} className={style.hint}>
          {chunk !== undefined && chunk.start !== null && words.textHint}
        </p>
        <label htmlFor={`${field}k`}>{words.keywords}</label>
        <input id={`${field}k`} name="keywords" defaultValue={chunk?.important_keywords.join(', ')} />
        <label htmlFor={`${field}q`}>{words.questions}</label>
        <textarea id={`${field}q`} name="questions" rows={3} defaultValue={chunk?.questions.join('\n')} />
        {error !== null && <ErrorNote error={error} />}
        <div className={style.buttons}>
          <Button type="submit" look="main" disabled={isPending || text.trim() === ''}>
            {words.save}
          </Button>
          <Button
            onClick={() => {
              keepDraft('');
              onClose();
            }}
          >
            {words.cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function wordsIn(form: FormData) {
  const parts = (name: string, sign: RegExp): readonly string[] =>
    String(form.get(name) ?? '')
      .split(sign)
      .map((word) => word.trim())
      .filter(Boolean);
  return { important_keywords: parts('keywords', /[,，]/), questions: parts('questions', /\n/) };
}
