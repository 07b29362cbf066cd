/** `#/chat`: questions to datasets and tools, with each stage of the answer. A conversation is `…/sessions/{id}`, a run in it `…/runs/{id}`. */
import { useEffect, useRef, useState } from 'react';
import { useParams } from 'wouter';
import { useHashQuery, useQueryValues } from '../parts/location.js';
import { useObservable } from '../parts/use-observable.js';
import { Conversation } from '../run/conversation.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { chatServer, DEFAULT_CHAT, readSettings, useChats } from './chat-server.js';
import { ChatTools } from './chat-tools.js';
import { SessionList, SessionMenu } from './session-list.js';
import style from './stages.module.css';
import { stagesTexts } from './stages-texts.js';
import { Talk } from './talk.js';

export function StagesPage() {
  const words = useTexts(stagesTexts);
  const query = useHashQuery();
  const [values, change] = useQueryValues();
  const settings = readSettings(values);
  const { conversation, state, fork } = useChat(settings);
  const { data: chats = [] } = useChats();
  const known = settings.chat ?? chats.find(({ name }) => name === DEFAULT_CHAT)?.id;
  return (
    <div className={style.screen}>
      <h1 className="unseen">{words.title}</h1>
      <SessionList chat={known} session={state.session} query={query} />
      <section className={style.main}>
        <ChatTools
          menu={<SessionMenu chat={known} session={state.session} query={query} />}
          settings={settings}
          chats={chats.filter(({ name }) => name !== DEFAULT_CHAT)}
          hasBegun={state.turns.length > 0}
          onChange={change}
        />
        <Talk conversation={conversation} state={state} query={query} fork={fork} />
      </section>
    </div>
  );
}

/** The conversation that the address names; it is left when the screen goes. */
function useChat(settings: ReturnType<typeof readSettings>) {
  const client = useClient();
  const { kind, id } = useParams<{ kind?: string; id?: string }>();
  const newest = useRef(settings);
  newest.current = settings;
  const [{ conversation, fork }] = useState(() => {
    const server = chatServer(client, () => newest.current);
    return { conversation: new Conversation(server), fork: server.fork };
  });
  useEffect(() => {
    void conversation.show(id === undefined ? {} : kind === 'runs' ? { run: id } : { session: id });
  }, [conversation, kind, id]);
  useEffect(() => () => conversation.clear(), [conversation]);
  return { conversation, fork, state: useObservable(conversation.state$, conversation.state) };
}
