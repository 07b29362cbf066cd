/** Sessions as a table; each can be gone on with, and deleted. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { Button, IconButton } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { ErrorNote } from '../parts/notes.js';
import { sinceText } from '../parts/since.js';
import { agentPath } from '../run/paths.js';
import { chatAddress, runAddress } from '../run/place.js';
import style from '../runs/runs.module.css';
import { useChoices, useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { StatusTag } from '../trace/status-tag.js';
import type { ListedSession } from './session-list.js';
import { sessionsTexts } from './sessions-texts.js';

export function SessionTable({ sessions }: { readonly sessions: readonly ListedSession[] }) {
  const words = useTexts(sessionsTexts);
  const [doomed, setDoomed] = useState<ListedSession>();
  return (
    <>
      <table className={style.table}>
        <thead>
          <tr>
            <th scope="col">{words.session}</th>
            <th scope="col">{words.agent}</th>
            <th scope="col">{words.lastRun}</th>
            <th scope="col">{words.used}</th>
            <th scope="col" className={style.extra}>
              {words.made}
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
          {sessions.map((session) => (
            <SessionLine key={session.id} session={session} onDelete={() => setDoomed(session)} />
          ))}
        </tbody>
      </table>
      {doomed !== undefined && <DeletionDialog session={doomed} onClose={() => setDoomed(undefined)} />}
    </>
  );
}

interface SessionLineProps {
  readonly session: ListedSession;
  readonly onDelete: () => void;
}

function SessionLine({ session, onDelete }: SessionLineProps) {
  const words = useTexts(sessionsTexts);
  const { id, name, agent_id: agent, agent_title: title, user_id: user, last_run: run } = session;
  return (
    <tr>
      <th scope="row">
        <Link href={chatAddress(agent, id)}>{name.trim() === '' ? words.untitled : name}</Link>
      </th>
      <td>{title || agent}</td>
      <td>
        {run !== null && (
          <Link href={runAddress(agent, run.id)}>
            <StatusTag status={run.status} />
          </Link>
        )}
      </td>
      <Moment at={session.update_time} />
      <Moment at={session.create_time} className={style.extra} />
      <td className={style.extra}>{user}</td>
      <td className={style.actions}>
        <IconButton label={words.delete} onClick={onDelete}>
          <Trash2 size={16} aria-hidden="true" />
        </IconButton>
      </td>
    </tr>
  );
}

function Moment({ at, className }: { readonly at: number; readonly className?: string | undefined }) {
  const { language } = useChoices();
  return (
    <td className={className} title={new Date(at).toLocaleString(language)}>
      {sinceText(at, Date.now(), language)}
    </td>
  );
}

interface DeletionDialogProps {
  readonly session: ListedSession;
  readonly onClose: () => void;
}

function DeletionDialog({ session: { id, name, agent_id: agent }, onClose }: DeletionDialogProps) {
  const words = useTexts(sessionsTexts);
  const client = useClient();
  const queries = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => client.call(`${agentPath(agent)}/sessions/${encodeURIComponent(id)}`, { method: 'DELETE' }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['sessions'] });
      onClose();
    },
  });
  return (
    <Dialog title={words.deleteTitle} onClose={onClose}>
      <p>{words.deleteText(name.trim() === '' ? words.untitled : name)}</p>
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
