/** The past conversations of an agent, to go on with one of them. */
import { useQuery } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { useLocation } from 'wouter';
import { Button } from '../parts/button.js';
import { Menu } from '../parts/menu.js';
import { MenuItem } from '../parts/menu-item.js';
import { useChoices, useClient } from '../shell/studio.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { chatAddress } from './place.js';
import { listSessions, type SessionItem } from './session.js';
import style from './session-menu.module.css';

const texts = defineTexts({
  en: {
    title: 'Conversations',
    none: 'No conversation yet.',
    loading: 'Loading',
    failed: 'The conversations cannot be loaded.',
    untitled: 'Without a name',
  },
  zh: { title: '历史对话', none: '还没有对话。', loading: '正在加载', failed: '无法加载对话。', untitled: '未命名' },
});

export function SessionMenu({ agent, session }: { readonly agent: string; readonly session: string | undefined }) {
  const words = useTexts(texts);
  return (
    <Menu
      label={words.title}
      className={style.menu}
      opener={
        <Button>
          <History size={16} aria-hidden="true" />
          {words.title}
        </Button>
      }
    >
      <SessionItems agent={agent} session={session} />
    </Menu>
  );
}

function SessionItems({ agent, session }: { readonly agent: string; readonly session: string | undefined }) {
  const words = useTexts(texts);
  const client = useClient();
  const [, navigate] = useLocation();
  const { data, error } = useQuery({
    queryKey: ['sessions', agent],
    queryFn: ({ signal }) => listSessions(client, agent, signal),
    staleTime: 0,
  });
  if (error !== null) return <p className={style.note}>{words.failed}</p>;
  if (data === undefined) return <p className={style.note}>{words.loading}</p>;
  if (data.length === 0) return <p className={style.note}>{words.none}</p>;
  return data.map((one) => (
    <MenuItem
      key={one.id}
      className={style.item}
      isCurrent={one.id === session}
      onSelect={() => navigate(chatAddress(agent, one.id))}
    >
      <SessionLine session={one} />
    </MenuItem>
  ));
}

function SessionLine({ session: { name, update_time } }: { readonly session: SessionItem }) {
  const words = useTexts(texts);
  const { language } = useChoices();
  const when = new Date(update_time).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'short' });
  return (
    <>
      <span className={style.name}>{name.trim() === '' ? words.untitled : name}</span>
      <time className={style.time} dateTime={new Date(update_time).toISOString()}>
        {when}
      </time>
    </>
  );
}
