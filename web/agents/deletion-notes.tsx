/** What was deleted, with a way back for some seconds. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { Button } from '../parts/button.js';
import { useObservable } from '../parts/use-observable.js';
import { useClient } from '../shell/studio.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { refreshAgents } from './agent-data.js';
import style from './deletion-notes.module.css';
import { Deletions } from './deletions.js';

const texts = defineTexts({
  en: {
    deleted: (title: string) => `"${title}" was deleted, with its versions, sessions and runs.`,
    failed: (title: string, why: string) => `"${title}" could not be deleted: ${why}`,
    undo: 'Undo',
    close: 'Close',
  },
  zh: {
    deleted: (title: string) => `“${title}”及其版本、会话和运行记录已删除。`,
    failed: (title: string, why: string) => `无法删除“${title}”：${why}`,
    undo: '撤销',
    close: '关闭',
  },
});

/** The deletions of a page, which are carried out when it is left. */
export function useDeletions(): Deletions {
  const client = useClient();
  const queries = useQueryClient();
  const deletions = useMemo(
    () =>
      new Deletions({
        remove: async (id) => {
          await client.call(`/agents/${encodeURIComponent(id)}`, { method: 'DELETE', outlivesPage: true });
          // The list is without it before it stops being left out.
          await queries.refetchQueries({ queryKey: ['agents', 'list'] });
          refreshAgents(queries);
        },
      }),
    [client, queries],
  );
  useEffect(() => {
    const flush = () => deletions.flush();
    addEventListener('pagehide', flush);
    return () => {
      removeEventListener('pagehide', flush);
      flush();
    };
  }, [deletions]);
  return deletions;
}

export function DeletionNotes({ deletions }: { readonly deletions: Deletions }) {
  const words = useTexts(texts);
  const pending = useObservable(deletions.pending$, deletions.pending);
  const failures = useObservable(deletions.failures$, deletions.failures);
  return (
    <div role="status" className={style.notes}>
      {failures.map(({ id, title, error }) => (
        <p key={id} className={`${style.note} ${style.failed}`}>
          <span>{words.failed(title, error instanceof Error ? error.message : String(error))}</span>
          <Button onClick={() => deletions.undo(id)}>{words.close}</Button>
        </p>
      ))}
      {pending.map(({ id, title }) => (
        <p key={id} className={style.note}>
          <span>{words.deleted(title)}</span>
          <Button onClick={() => deletions.undo(id)}>{words.undo}</Button>
        </p>
      ))}
    </div>
  );
}
