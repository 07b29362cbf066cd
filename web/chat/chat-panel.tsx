/** The conversation with an agent: what was said, forms that wait, and what its user writes. */
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { useLocation } from 'wouter';
import type { Document } from '../../src/dsl/document.js';
import { beginParams, ingestionComponents, prologue } from '../../src/dsl/introspect.js';
import { ErrorNote, LoadingNote } from '../parts/notes.js';
import type { AgentDetail } from '../run/agent-detail.js';
import type { Conversation, ConversationState } from '../run/conversation.js';
import { runAddress } from '../run/place.js';
import type { TurnInput } from '../run/start-turn.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './chat-panel.module.css';
import { Composer } from './composer.js';
import { fieldsOf } from './form-model.js';
import { LiveTurn } from './live-turn.js';
import { PipelineNote } from './pipeline-note.js';
import { ScrollLog } from './scroll-log.js';
import { PendingTurn, TurnView } from './turn-view.js';
import { useTelling } from './use-telling.js';

const texts = defineTexts({
  en: { log: 'Conversation' },
  zh: { log: '对话' },
});

export interface ChatPanelProps {
  readonly agent: AgentDetail;
  /** Undefined when it cannot be read. */
  readonly document: Document | undefined;
  readonly conversation: Conversation;
  readonly state: ConversationState;
}

export function ChatPanel({ agent, document, conversation, state }: ChatPanelProps) {
  const words = useTexts(texts);
  const send = useSend(agent.id, conversation);
  const greeting = useMemo(() => (document === undefined ? '' : prologue(document)), [document]);
  const fields = useMemo(() => fieldsOf((document && beginParams(document))?.inputs), [document]);
  const isPipeline = useMemo(() => document !== undefined && ingestionComponents(document).length > 0, [document]);
  const { turns, sending, isLoading, error } = state;
  const last = turns.at(-1);
  const telling = useTelling(document, last?.store);
  const isBroken = error !== undefined && sending === undefined;
  return (
    <div className={style.panel}>
      <ScrollLog label={words.log} goesDownWith={sending}>
        {greeting !== '' && <p className={style.greeting}>{greeting}</p>}
        {isLoading && <LoadingNote />}
        {turns.map((turn) => (
          <TurnView
            key={turn.key}
            turn={turn}
            onFollow={conversation}
            live={(store) => (
              <LiveTurn
                turn={turn}
                store={store}
                agent={agent}
                isLast={turn === last && sending === undefined}
                onAnswer={send}
              />
            )}
          />
        ))}
        {sending !== undefined && <PendingTurn input={sending} />}
        {isBroken && <ErrorNote error={error} />}
      </ScrollLog>
      {isPipeline ? (
        <PipelineNote agent={agent.id} />
      ) : (
        <Composer
          agent={agent.id}
          fields={fields}
          isBusy={sending !== undefined}
          store={last?.store}
          telling={telling}
          onSend={send}
        />
      )}
    </div>
  );
}

/** Sends a turn and goes to the address of its run; gives whether it was taken. */
function useSend(agent: string, conversation: Conversation): (input: TurnInput) => Promise<boolean> {
  const [, navigate] = useLocation();
  const isHere = useRef(true);
  useEffect(() => {
    isHere.current = true;
    return () => {
      isHere.current = false;
    };
  }, []);
  return useCallback(
    async (input) => {
      const run = await conversation.send(input);
      if (run !== undefined && isHere.current) navigate(runAddress(agent, run));
      return run !== undefined;
    },
    [agent, conversation, navigate],
  );
}
