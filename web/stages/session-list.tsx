/** Past conversations with an assistant. */
import { History, Plus } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import { Button } from '../parts/button.js';
import { FailureLine } from '../parts/failure-line.js';
import { Menu } from '../parts/menu.js';
import { MenuItem } from '../parts/menu-item.js';
import { sinceText } from '../parts/since.js';
import menuStyle from '../run/session-menu.module.css';
import { useChoices } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { useChatSessions } from './chat-server.js';
import style from './stages.module.css';
import { stagesTexts } from './stages-texts.js';

export interface SessionListProps {
  /** Id of the assistant; undefined before its first question. */
  readonly chat: string | undefined;
  readonly session: string | undefined;
  /** The query of the address, which goes along. */
  readonly query: string;
}

export function SessionList({ chat, session, query }: SessionListProps) {
  const words = useTexts(stagesTexts);
  const { language } = useChoices();
  const { data = [], error } = useChatSessions(chat);
  const behind = query === '' ? '' : `?${query}`;
  return (
    <nav className={style.sessions} aria-label={words.sessions}>
      <Link href={`/chat${behind}`} className={style.fresh}>
        <Plus size={16} aria-hidden="true" /> {words.fresh}
      </Link>
      <h2>{words.sessions}</h2>
      {error !== null && <FailureLine error={error} />}
      {data.length === 0 && error === null && <p className={style.soft}>{words.noSessions}</p>}
      <ul>
        {data.map(({ id, name, update_time: changedAt }) => (
          <li key={id}>
            <Link
              href={`/chat/sessions/${encodeURIComponent(id)}${behind}`}
              aria-current={id === session ? 'page' : undefined}
            >
              <span className={style.sessionName}>{name.trim() === '' ? words.untitled : name}</span>
              <time dateTime={new Date(changedAt).toISOString()}>{sinceText(changedAt, Date.now(), language)}</time>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The same where there is no room beside the conversation. */
export function SessionMenu({ chat, session, query }: SessionListProps) {
  const words = useTexts(stagesTexts);
  const { language } = useChoices();
  const [, navigate] = useLocation();
  const { data = [], error } = useChatSessions(chat);
  const behind = query === '' ? '' : `?${query}`;
  return (
    <Menu
      label={words.sessions}
      className={menuStyle.menu}
      align="start"
      opener={
        <Button className={style.narrow}>
          <History size={16} aria-hidden="true" /> {words.sessions}
        </Button>
      }
    >
      <MenuItem className={menuStyle.item} onSelect={() => navigate(`/chat${behind}`)}>
        {words.fresh}
      </MenuItem>
      {error !== null && <FailureLine error={error} />}
      {data.length === 0 && error === null && <p className={menuStyle.note}>{words.noSessions}</p>}
      {data.map(({ id, name, update_time: changedAt }) => (
        <MenuItem
          key={id}
          className={menuStyle.item}
          isCurrent={id === session}
          onSelect={() => navigate(`/chat/sessions/${encodeURIComponent(id)}${behind}`)}
        >
          <span className={menuStyle.name}>{name.trim() === '' ? words.untitled : name}</span>
          <time className={menuStyle.time} dateTime={new Date(changedAt).toISOString()}>
            {sinceText(changedAt, Date.now(), language)}
          </time>
        </MenuItem>
      ))}
    </Menu>
  );
}
