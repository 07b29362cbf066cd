/** Runs as a table; each can be opened, compared with the one that it was forked from, and deleted. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Columns2, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { formatMs } from '../../src/canvas/timeline-rows.js';
import { compareAddress } from '../debug/compare-address.js';
import { Button, IconButton } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { ErrorNote } from '../parts/notes.js';
import { sinceText } from '../parts/since.js';
import { runPath } from '../run/paths.js';
import { runAddress } from '../run/place.js';
import { useChoices, useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { StatusTag } from '../trace/status-tag.js';
import type { ListedRun } from './run-list.js';
import style from './runs.module.css';
import { runsTexts } from './runs-texts.js';

export function RunTable({ runs }: { readonly runs: readonly ListedRun[] }) {
  const words = useTexts(runsTexts);
  const [doomed, setDoomed] = useState<ListedRun>();
  return (
    <>
      <table className={style.table}>
        <thead>
          <tr>
            <th scope="col">{words.agent}</th>
            <th scope="col">{words.status}</th>
            <th scope="col">{words.began}</th>
            <th scope="col" className={style.number}>
              {words.length}
            </th>
            <th scope="col" className={style.number}>
              {words.tokens}
            </th>
            <th scope="col" className={style.extra}>
              {words.version}
            </th>
            <th scope="col" className={style.extra}>
              {words.user}
            </th>
            <th scope="col">
              <span className="unseen">{words.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <RunLine key={run.id} run={run} onDelete={() => setDoomed(run)} />
          ))}
        </tbody>
      </table>
      {doomed !== undefined && <DeletionDialog run={doomed} onClose={() => setDoomed(undefined)} />}
    </>
  );
}

function RunLine({ run, onDelete }: { readonly run: ListedRun; readonly onDelete: () => void }) {
  const words = useTexts(runsTexts);
  const { language } = useChoices();
  const [, navigate] = useLocation();
  const { id, agent_id: agent, agent_title: title, status, started_at: startedAt, parent_run_id: parent } = run;
  const { elapsed_time: seconds, usage, version, user_id: user, forked_at: forkedAt, error } = run;
  return (
    <tr>
      <th scope="row">
        <Link href={runAddress(agent, id)}>{title || agent}</Link>
        {forkedAt !== null && <span className={style.fork}>{words.fork(forkedAt)}</span>}
        {error !== null && <p className={style.error}>{error.message}</p>}
      </th>
      <td>
        <StatusTag status={status} />
      </td>
      <td title={new Date(startedAt).toLocaleString(language)}>{sinceText(startedAt, Date.now(), language)}</td>
      <td className={style.number}>{seconds === null ? '' : formatMs(seconds * 1_000)}</td>
      <td className={style.number}>{usage.total_tokens > 0 ? usage.total_tokens.toLocaleString(language) : ''}</td>
      <td className={style.extra}>{version === null ? '' : (words.versions[version] ?? version.slice(0, 8))}</td>
      <td className={style.extra}>{user ?? ''}</td>
      <td className={style.actions}>
        {parent !== null && forkedAt !== null && (
          <IconButton label={words.compare} onClick={() => navigate(compareAddress(agent, parent, id))}>
            <Columns2 size={16} aria-hidden="true" />
          </IconButton>
        )}
        <IconButton label={words.delete} disabled={status === 'running'} onClick={onDelete}>
          <Trash2 size={16} aria-hidden="true" />
        </IconButton>
      </td>
    </tr>
  );
}

function DeletionDialog({ run, onClose }: { readonly run: ListedRun; readonly onClose: () => void }) {
  const words = useTexts(runsTexts);
  const client = useClient();
  const queries = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => client.call(runPath(run.agent_id, run.id), { method: 'DELETE' }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['runs'] });
      onClose();
    },
  });
  return (
    <Dialog title={words.deleteTitle} onClose={onClose}>
      <p>{words.deleteText(run.agent_title)}</p>
      {error !== null && <ErrorNote error={error} />}
      <div className={style.buttons}>
        <Button look="danger" disabled={isPending} onClick={() => mutate()}>
          {words.delete}
        </Button>
        <Button onClick={onClose}>{words.cancel}</Button>
      </div>
    </Dialog>
  );
}
