/** A chunk: its text, where it stands, and what can be done with it. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Pencil, Trash2 } from 'lucide-react';
import { useId, useState } from 'react';
import { IconButton } from '../parts/button.js';
import { ConfirmDialog } from '../parts/confirm-dialog.js';
import { FailureLine } from '../parts/failure-line.js';
import { Switch } from '../parts/switch.js';
import { useChoices, useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { type ChunkItem, deleteChunk, switchChunk } from './chunk-data.js';
import { ChunkDialog } from './chunk-dialog.js';
import { chunksTexts } from './chunks-texts.js';
import { refreshDataset } from './dataset-data.js';
import style from './document-page.module.css';

export interface ChunkCardProps {
  /** Path of its document. */
  readonly path: string;
  readonly dataset: string;
  readonly chunk: ChunkItem;
  readonly number: number;
}

export function ChunkCard({ path, dataset, chunk, number }: ChunkCardProps) {
  const words = useTexts(chunksTexts);
  const heading = useId();
  const { content, available, headings, important_keywords: keywords, questions, tag_kwd: tags } = chunk;
  return (
    <article aria-labelledby={heading} className={available ? style.chunk : `${style.chunk} ${style.off}`}>
      <div className={style.line}>
        <h2 id={heading}>{words.chunk(number)}</h2>
        <ChunkPlace chunk={chunk} />
        <ChunkTools path={path} dataset={dataset} chunk={chunk} number={number} />
      </div>
      {headings.length > 0 && <p className={style.line}>{headings.join(' › ')}</p>}
      <p className={style.text}>{content}</p>
      <ChunkWords name={words.about.keywords} words={keywords} />
      <ChunkWords name={words.about.questions} words={questions} />
      <ChunkWords name={words.about.tags} words={tags} />
    </article>
  );
}

function ChunkWords({ name, words }: { readonly name: string; readonly words: readonly string[] }) {
  if (words.length === 0) return null;
  return (
    <p className={style.words}>
      {name}:
      {words.map((word) => (
        <span key={word}>{word}</span>
      ))}
    </p>
  );
}

function ChunkPlace({ chunk: { pages, start, end } }: Pick<ChunkCardProps, 'chunk'>) {
  const words = useTexts(chunksTexts);
  const { language } = useChoices();
  return (
    <>
      {pages.length > 0 && <span>{words.page(pages.join(', '))}</span>}
      {start === null || end === null ? (
        <span>{words.written}</span>
      ) : (
        <span>{words.place(start.toLocaleString(language), end.toLocaleString(language))}</span>
      )}
    </>
  );
}

function ChunkTools({ path, dataset, chunk, number }: ChunkCardProps) {
  const words = useTexts(chunksTexts);
  const client = useClient();
  const queries = useQueryClient();
  const [opened, setOpened] = useState<'edit' | 'delete'>();
  const { mutate, isPending, error } = useMutation({
    mutationFn: (isOn: boolean) => switchChunk(client, path, chunk.id, isOn),
    onSettled: () => refreshDataset(queries, dataset),
  });
  const remove = async () => {
    await deleteChunk(client, path, chunk.id);
    await refreshDataset(queries, dataset);
  };
  return (
    <span className={style.tools}>
      {error !== null && <FailureLine error={error} />}
      <Switch label={words.switch(number)} isOn={chunk.available} isBusy={isPending} onTurn={mutate} />
      <IconButton label={words.edit(number)} onClick={() => setOpened('edit')}>
        <Pencil size={15} aria-hidden="true" />
      </IconButton>
      <IconButton label={words.delete(number)} onClick={() => setOpened('delete')}>
        <Trash2 size={15} aria-hidden="true" />
      </IconButton>
      {opened === 'edit' && <ChunkDialog path={path} chunk={chunk} onClose={() => setOpened(undefined)} />}
      {opened === 'delete' && (
        <ConfirmDialog
          title={words.deleteTitle}
          text={words.deleteText}
          action={words.deleteAction}
          onConfirm={remove}
          onClose={() => setOpened(undefined)}
        />
      )}
    </span>
  );
}
