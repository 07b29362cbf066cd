import { describe, expect, it } from 'vitest';
import { toChatFrame } from '../../../src/chat/chat-frames.js';
import { ofType, startChatHost } from './support/chat-host.js';
import { embed, say } from './support/held-server.js';

const COMPARES = 'What is the difference between a checkpoint and a snapshot?';

async function open(params = {}) {
  const chat = await startChatHost({ params });
  const { answers } = chat.upstream;
  answers.set('embeddings', embed);
  answers.set('chat_rewrite', say('{"rewrites": ["checkpoint"]}'));
  answers.set('chat_intent', say('{"intents": [{"kind": "KB", "confidence": 0.9}]}'));
  answers.set('answer', say('A checkpoint is a snapshot [1].'));
  return chat;
}

describe('a chat that is asked what one search may not answer', () => {
  it('tells of a research once, behind the fifth stage, and answers as ever', async () => {
    const { ask } = await open();
    const { told, events } = await ask(COMPARES);
    const expected = { question: COMPARES, reason: 'comparative', depth: 'normal', auto: false };
    expect(ofType(told, 'research_suggested')).toEqual([{ type: 'research_suggested', ...expected }]);
    const types = told.map((event) => ('stage' in event ? `${event.type} ${event.stage}` : event.type));
    expect(types[types.indexOf('research_suggested') - 1]).toBe('stage_end 5');
    expect(types.indexOf('stage_start 6')).toBeGreaterThan(types.indexOf('research_suggested'));
    expect(types.at(-1)).toBe('final');
    const frames = events.map((event) => toChatFrame(event, { sessionId: 's', traceId: 't' }));
    expect(frames).toContain(JSON.stringify({ type: 'research_suggested', ...expected }));
  });

  it('says nothing of it to simple questions, to greetings, and where it is set so', async () => {
    const simple = await open();
    for (const question of ['What is a checkpoint?', 'hello'])
      expect(ofType((await simple.ask(question)).told, 'research_suggested')).toEqual([]);
    const off = await open({ research: 'off' });
    expect(ofType((await off.ask(COMPARES)).told, 'research_suggested')).toEqual([]);
  });

  it('tells the client to start it only where it is set so, by the chat or by the turn', async () => {
    const auto = await open({ research: 'auto' });
    expect(ofType((await auto.ask(COMPARES)).told, 'research_suggested')).toMatchObject([{ auto: true }]);
    const variables = { 'sys.chat': { options: { research: 'suggest' }, dataset_ids: [auto.dataset] } };
    const { told } = await auto.ask(COMPARES, { variables } as never);
    expect(ofType(told, 'research_suggested')).toMatchObject([{ auto: false, dataset_ids: [auto.dataset] }]);
  });
});
