/** A small page with the published `useChat`, as the docs show it; it keeps its messages itself. */
import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  getToolName,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai';
import { type ReactElement, useEffect } from 'react';
import { createRoot } from 'react-dom/client';

const { agent, at } = Object.fromEntries(new URLSearchParams(location.search));
/** Of a canvas on a server, or where a handler of agents in code is. */
const api = at ?? `/api/v1/agents/${agent}/ui-messages`;
const CHAT = 'chat-1';

const stored = (): UIMessage[] => JSON.parse(sessionStorage.getItem(CHAT) ?? '[]') as UIMessage[];

function Page(): ReactElement {
  const chat = useChat({
    id: CHAT,
    messages: stored(),
    resume: true,
    transport: new DefaultChatTransport({ api }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const { messages, status, error, sendMessage, addToolApprovalResponse, stop } = chat;
  useEffect(() => sessionStorage.setItem(CHAT, JSON.stringify(messages)), [messages]);
  const json = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const end = () => fetch(`${api}/${CHAT}/stop`, json).then(stop);
  const say = () => fetch(`/sessions/${CHAT}/inputs`, { ...json, body: JSON.stringify({ content: 'In one line!' }) });
  return (
    <main>
      <p role="status">{error === undefined ? status : `failed: ${error.message}`}</p>
      <ul aria-label="Messages">
        {messages.map((message) => (
          <li key={message.id}>
            <b>{message.role}</b> <Parts parts={message.parts} answer={addToolApprovalResponse} />
          </li>
        ))}
      </ul>
      <button type="button" onClick={() => sendMessage({ text: 'How old is the Golden Gate Bridge?' })}>
        Ask
      </button>
      <button type="button" onClick={end}>
        Stop
      </button>
      <button type="button" onClick={say}>
        Say
      </button>
    </main>
  );
}

interface PartsOptions {
  readonly parts: UIMessage['parts'];
  readonly answer: (answer: { id: string; approved: boolean }) => void;
}

function Parts({ parts, answer }: PartsOptions): ReactElement {
  return (
    <>
      {parts.map((part, index) => {
        if (part.type === 'text') return <span key={index}>{part.text}</span>;
        if (!isToolUIPart(part)) return null;
        const { approval, state } = part;
        return (
          <div key={part.toolCallId}>
            {getToolName(part)}: {state}
            {state === 'approval-requested' && approval !== undefined && (
              <button type="button" onClick={() => answer({ id: approval.id, approved: true })}>
                Allow {getToolName(part)}
              </button>
            )}
          </div>
        );
      })}
    </>
  );
}

createRoot(document.querySelector('#root') as HTMLElement).render(<Page />);
