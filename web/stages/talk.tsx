/** A conversation with a chat: what was said, and where the user writes. */
import { CornerUpLeft, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { Composer } from '../chat/composer.js';
import { ScrollLog } from '../chat/scroll-log.js';
import { PendingTurn, TurnView } from '../chat/turn-view.js';
import { Button } from '../parts/button.js';
import { EmptyNote, ErrorNote, LoadingNote } from '../parts/notes.js';
import { useDraft } from '../parts/use-draft.js';
import type { Conversation, ConversationState } from '../run/conversation.js';
import { useTexts } from '../shell/texts.js';
import type { ChatServer } from './chat-server.js';
import { ChatTurn } from './chat-turn.js';
import { ModelNote } from './model-note.js';
import style from './stages.module.css';
import { stagesTexts } from './stages-texts.js';
import { useAsk } from './use-ask.js';

/** Place of what is being written. */
const DRAFT = 'chat';

export interface TalkProps {
  readonly conversation: Conversation;
  readonly state: ConversationState;
  /** The query of the address, which goes along. */
  readonly query: string;
  readonly fork: ChatServer['fork'];
}

export function Talk({ conversation, state, query, fork }: TalkProps) {
  const words = useTexts(stagesTexts);
  const { ask, edited, edit, isForking, error: forkError } = useAsk(conversation, { query, fork });
  const [edits, setEdits] = useState(0);
  const [, keepDraft] = useDraft(DRAFT);
  const { turns, origin, sending, isLoading, error } = state;
  const last = turns.at(-1);
  // What is edited is a question of the conversation that is shown.
  useEffect(() => {
    if (edited !== undefined && !turns.some(({ run }) => run === edited)) edit(undefined);
  }, [turns, edited, edit]);
  const begin = (run: string, question: string) => {
    edit(run);
    keepDraft(question);
    // The field is made anew with what is to be edited.
    setEdits((count) => count + 1);
  };
  return (
    <div className={style.talk}>
      <ScrollLog label={words.log} goesDownWith={sending}>
        {isLoading && <LoadingNote />}
        {origin !== undefined && <Origin session={origin} query={query} />}
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
                onEdit={begin}
              />
            )}
          />
        ))}
        {sending !== undefined && <PendingTurn input={sending} />}
        {error !== undefined && sending === undefined && <ErrorNote error={error} />}
      </ScrollLog>
      <div>
        <ModelNote />
        {forkError !== undefined && <ErrorNote error={forkError} />}
        {edited !== undefined && (
          <div role="status" className={style.editing}>
            {words.editing}
            <Button look="quiet" onClick={() => edit(undefined)}>
              <X size={14} aria-hidden="true" /> {words.stay}
            </Button>
          </div>
        )}
        <Composer
          key={edits}
          agent={DRAFT}
          takesFiles={false}
          fields={[]}
          isBusy={isForking || sending !== undefined}
          store={edited === undefined ? last?.store : undefined}
          onSend={({ query: question }) => ask(question)}
        />
      </div>
    </div>
  );
}

/** Where a conversation comes from whose first questions were asked in another one. */
function Origin({ session, query }: { readonly session: string; readonly query: string }) {
  const words = useTexts(stagesTexts);
  const address = `/chat/sessions/${encodeURIComponent(session)}${query === '' ? '' : `?${query}`}`;
  return (
    <p className={style.origin}>
      <CornerUpLeft size={14} aria-hidden="true" />
      {words.origin} <Link href={address}>{words.openOrigin}</Link>
    </p>
  );
}
