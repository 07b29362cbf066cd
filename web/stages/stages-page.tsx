/** `#/chat`: questions to datasets and tools, with each stage of the answer. A conversation is `…/sessions/{id}`, a run in it `…/runs/{id}`. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { Composer } from '../chat/composer.js';
import { ScrollLog } from '../chat/scroll-log.js';
import { PendingTurn, TurnView } from '../chat/turn-view.js';
import { useHashQuery, useQueryValues } from '../parts/location.js';
import { EmptyNote, ErrorNote, LoadingNote } from '../parts/notes.js';
import { useDraft } from '../parts/use-draft.js';
import { useObservable } from '../parts/use-observable.js';
import { Conversation, type ConversationState } from '../run/conversation.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { chatServer, readSettings, useChats } from './chat-server.js';
import { ChatTools } from './chat-tools.js';
import { ChatTurn } from './chat-turn.js';
import { SessionList } from './session-list.js';
import style from './stages.module.css';
import { stagesTexts } from './stages-texts.js';

/** Name of the assistant that the server makes for questions that name none. */
const DEFAULT_CHAT = 'default';

/** Place of what is being written. */
const DRAFT = 'chat';

export function StagesPage() {
  const words = useTexts(stagesTexts);
  const query = useHashQuery();
  const [values, change] = useQueryValues();
  const settings = readSettings(values);
  const { conversation, state } = useChat(settings);
  const { data: chats = [] } = useChats();
  const known = settings.chat ?? chats.find(({ name }) => name === DEFAULT_CHAT)?.id;
  return (
    <div className={style.screen}>
      <h1 className="unseen">{words.title}</h1>
      <SessionList chat={known} session={state.session} query={query} />
      <section className={style.main}>
        <ChatTools
          settings={settings}
          chats={chats.filter(({ name }) => name !== DEFAULT_CHAT)}
          hasBegun={state.turns.length > 0}
          onChange={change}
        />
        <Talk conversation={conversation} state={state} query={query} />
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
  const [conversation] = useState(() => new Conversation(chatServer(client, () => newest.current)));
  useEffect(() => {
    void conversation.show(id === undefined ? {} : kind === 'runs' ? { run: id } : { session: id });
  }, [conversation, kind, id]);
  useEffect(() => () => conversation.clear(), [conversation]);
  return { conversation, state: useObservable(conversation.state$, conversation.state) };
}

interface TalkProps {
  readonly conversation: Conversation;
  readonly state: ConversationState;
  /** The query of the address, which goes along. */
  readonly query: string;
}

function Talk({ conversation, state, query }: TalkProps) {
  const words = useTexts(stagesTexts);
  const ask = useAsk(conversation, query);
  const [edits, setEdits] = useState(0);
  const [, keepDraft] = useDraft(DRAFT);
  const { turns, sending, isLoading, error } = state;
  const last = turns.at(-1);
  const edit = (question: string) => {
    keepDraft(question);
    // The field is made anew with what is to be edited.
    setEdits((count) => count + 1);
  };
  return (
    <div className={style.talk}>
      <ScrollLog label={words.log} goesDownWith={sending}>
        {isLoading && <LoadingNote />}
        {turns.length === 0 && sending === undefined && !isLoading && error === undefined && (
          <EmptyNote title={words.empty}>
            <p>{words.emptyHint}</p>
          </EmptyNote>
        )}
        {turns.map((turn) => (
          <TurnView
            key={turn.key}
            turn={turn}
            onFollow={conversation}
            live={(store) => (
              <ChatTurn
                turn={turn}
                store={store}
                isLast={turn === last && sending === undefined}
                onAsk={(question) => void ask(question)}
                onEdit={edit}
              />
            )}
          />
        ))}
        {sending !== undefined && <PendingTurn input={sending} />}
        {error !== undefined && sending === undefined && <ErrorNote error={error} />}
      </ScrollLog>
      <Composer
        key={edits}
        agent={DRAFT}
        takesFiles={false}
        fields={[]}
        isBusy={sending !== undefined}
        store={last?.store}
        onSend={({ query: question }) => ask(question)}
      />
    </div>
  );
}

/** Asks, and goes to the address of the run; gives whether the question was taken. */
function useAsk(conversation: Conversation, query: string): (question: string) => Promise<boolean> {
  const [, navigate] = useLocation();
  const queries = useQueryClient();
  const isHere = useRef(true);
  useEffect(() => {
    isHere.current = true;
    return () => {
      isHere.current = false;
    };
  }, []);
  return async (question) => {
    const run = await conversation.send({ query: question });
    void queries.invalidateQueries({ queryKey: ['chats'] });
    if (run !== undefined && isHere.current)
      navigate(`/chat/runs/${encodeURIComponent(run)}${query === '' ? '' : `?${query}`}`);
    return run !== undefined;
  };
}
