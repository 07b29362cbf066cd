/** A runner for `useChat`: what it sends is understood, and what it gets is taken by the published reader. */
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { agent, agentHandler, createRunner } from '../../../src/entries/agents.js';
import { defineTool, type UiMessage, type UiMessageChunk } from '../../../src/index.js';
import { plainParts, readChunks, textsOf } from '../../ui-messages/support/read-chunks.js';
import { type Reply, replies, talk } from '../loop/support.js';

function serve(...list: readonly Reply[]) {
  const entered$ = new Subject<void>();
  const open$ = new Subject<string>();
  const wait = defineTool({
    name: 'wait',
    description: 'Waits.',
    run: () =>
      new Promise<string>((resolve) => {
        open$.subscribe(resolve);
        entered$.next();
      }),
  });
  const sure = defineTool({
    name: 'sure',
    description: 'Asks.',
    run: (_, call) => (call.answer === undefined ? call.interrupt('Sure?') : `It is ${JSON.stringify(call.answer)}.`),
  });
  const model = replies(...list);
  const handler = agentHandler({
    runner: createRunner({ agent: agent({ name: 'guide', model, tools: [wait, sure] }) }),
  });
  const ask = (path: string, body?: unknown): Promise<Response> =>
    handler(
      new Request(`http://localhost${path}`, {
        ...(body !== undefined && {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        }),
      }),
    );
  const entered = new Promise<void>((resolve) => entered$.subscribe(() => resolve()));
  return { model, handler, ask, entered, open: (text: string) => open$.next(text) };
}

const user = (text: string): UiMessage => ({ id: `u-${text}`, role: 'user', parts: [{ type: 'text', text }] });

async function chunksIn(response: Response): Promise<UiMessageChunk[]> {
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '));
  expect(lines.at(-1)).toBe('data: [DONE]');
  return lines.slice(0, -1).map((line) => JSON.parse(line.slice('data: '.length)));
}

describe('agentHandler for pages of the AI SDK', () => {
  it('gives a message, and keeps the history itself', async () => {
    const { ask, model } = serve('Hello.', 'Ada.');
    const first = await ask('/ui-messages', { id: 'c1', messages: [user('Hi.')], trigger: 'submit-message' });
    expect(first.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    const message = await readChunks(await chunksIn(first));
    expect(textsOf(message)).toEqual(['Hello.']);
    expect(message.metadata).toMatchObject({ session: 'c1' });
    await chunksIn(await ask('/ui-messages', { id: 'c1', messages: [user('Hi.'), message, user('Who?')] }));
    expect(talk(model.requests[1]?.messages ?? [])).toEqual(['user: Hi.', 'assistant: Hello.', 'user: Who?']);
  });

  it('shows what was said while it worked, and turns that inputs opened, in one message', async () => {
    const { ask, entered, open } = serve({ calls: [{ name: 'wait' }] }, 'Short.', 'Later.');
    const answer = ask('/ui-messages', { id: 'c1', messages: [user('Go.')] });
    await entered;
    expect((await ask('/sessions/c1/inputs', { id: 'i', content: 'Short!' })).status).toBe(202);
    expect((await ask('/sessions/c1/inputs', { id: 'n', content: 'Then?', when: 'next-turn' })).status).toBe(202);
    const again = ask('/ui-messages/c1/stream');
    open('waited');
    const [chunks, seen] = [await chunksIn(await answer), await chunksIn(await again)];
    expect(seen).toEqual(chunks);
    const message = await readChunks(chunks);
    expect(plainParts(message)).toEqual([
      { type: 'step-start' },
      expect.objectContaining({ type: 'tool-wait', state: 'output-available', output: 'waited' }),
      { type: 'data-input-delivered', id: 'i', data: { id: 'i', agent: 'guide', round: 2 } },
      { type: 'step-start' },
      { type: 'text', text: 'Short.', state: 'done' },
      { type: 'step-start' },
      { type: 'text', text: 'Later.', state: 'done' },
    ]);
    expect(chunks.filter(({ type }) => type === 'finish')).toHaveLength(1);
    expect((await ask('/ui-messages/c1/stream')).status).toBe(204);
  });

  it('takes answers in the message that asked, and goes on with it', async () => {
    const { ask } = serve({ calls: [{ name: 'sure', id: 'c' }] }, 'Done.');
    const asked = await readChunks(await chunksIn(await ask('/ui-messages', { id: 'c1', messages: [user('Go.')] })));
    const question = asked.parts.find((part) => part.type === 'tool-ask') as { toolCallId: string } | undefined;
    const parts = asked.parts.map((part) =>
      (part as unknown) === question ? { ...part, state: 'output-available', output: 'yes' } : part,
    );
    const sent = { ...asked, parts } as unknown as UiMessage;
    const chunks = await chunksIn(await ask('/ui-messages', { id: 'c1', messages: [user('Go.'), sent] }));
    const message = await readChunks(chunks, sent);
    expect(message.id).toBe(asked.id);
    expect(textsOf(message)).toEqual(['Done.']);
  });

  it('stops', async () => {
    const { ask, entered } = serve({ calls: [{ name: 'wait' }] });
    const answer = ask('/ui-messages', { id: 'c1', messages: [user('Go.')] });
    await entered;
    expect(await (await ask('/ui-messages/c1/stop', {})).json()).toEqual({ stopped: true });
    expect((await chunksIn(await answer)).at(-1)).toMatchObject({ type: 'abort' });
    expect(await (await ask('/ui-messages/none/stop', {})).json()).toEqual({ stopped: false });
  });

  it.each([
    [{ id: 'c', messages: [] }],
    [{ messages: [user('x')] }],
    [{ id: 'c', messages: [{ role: 'assistant', parts: [] }] }],
    [{ id: 'c', messages: [{ id: '', role: 'system', parts: [{ type: 'text', text: 'x' }] }] }],
  ])('refuses %j', async (body) => {
    const response = await serve('x').ask('/ui-messages', body);
    expect(response.status).toBeGreaterThanOrEqual(400);
  });
});
