/** The line above a canvas: which agent, and which of its conversations. */
import { MessageSquarePlus } from 'lucide-react';
import { useLocation } from 'wouter';
import { Button } from '../parts/button.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import type { AgentDetail } from './agent-detail.js';
import type { Conversation } from './conversation.js';
import { agentAddress } from './place.js';
import style from './run-header.module.css';
import { SessionMenu } from './session-menu.js';

const texts = defineTexts({
  en: { fresh: 'New conversation' },
  zh: { fresh: '新对话' },
});

export interface RunHeaderProps {
  readonly agent: AgentDetail;
  readonly conversation: Conversation;
  readonly session: string | undefined;
}

export function RunHeader({ agent, conversation, session }: RunHeaderProps) {
  const words = useTexts(texts);
  const [, navigate] = useLocation();
  const begin = () => {
    conversation.clear();
    navigate(agentAddress(agent.id));
  };
  return (
    <header className={style.header}>
      <h1 title={agent.title}>{agent.title}</h1>
      <div className={style.actions}>
        <SessionMenu agent={agent.id} session={session} />
        <Button onClick={begin}>
          <MessageSquarePlus size={16} aria-hidden="true" />
          {words.fresh}
        </Button>
      </div>
    </header>
  );
}
