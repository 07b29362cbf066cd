/** What people say to agents of canvases while these work, over real sockets. */
import { describe, expect, it } from 'vitest';
import { documentOf } from './support/documents.js';
import { openStream } from './support/event-stream.js';
import { type HeldCall, heldModel } from './support/held-model.js';
import { connect } from './support/live-client.js';
import { startServer, type TestServer } from './support/server.js';

const AGENTS = '/api/v1/agents';

/** Is offered, and not called. */
const TOOL = { component_name: 'SearXNG', params: { searxng_url: 'http://127.0.0.1:9' } };

const AGENT = documentOf({
  begin: ['Begin', ['Agent:A'], {}],
  'Agent:A': ['Agent', ['Message:M'], { llm_id: 'scripted', tools: [TOOL], prompts: '{sys.query}' }],
  'Message:M': ['Message', [], { content: ['{Agent:A@content}'] }],
});

const TWO_AGENTS = documentOf({
  begin: ['Begin', ['Agent:A'], {}],
  'Agent:A': ['Agent', ['Agent:B'], { llm_id: 'scripted', tools: [TOOL], prompts: '{sys.query}' }],
  'Agent:B': ['Agent', ['Message:M'], { llm_id: 'scripted', tools: [TOOL], prompts: '{Agent:A@content}' }],
  'Message:M': ['Message', [], { content: ['{Agent:B@content}'] }],
});

async function serve(dsl = AGENT) {
  const { services, next } = await heldModel();
  const server = await startServer({ services });
  const id = await server.agent(dsl);
  const stream = await openStream(`${server.url}${AGENTS}/${id}/stream`, { body: { query: 'Tell me.' } });
  const first = await next();
  const { body } = await server.call('GET', `${AGENTS}/${id}/runs`);
  const { id: run, session_id: session } = body.data[0];
  return { server, id, run, session, next, first, stream, path: `${AGENTS}/${id}/runs/${run}` };
}

/** What the run has answered. */
async function answerOf(server: TestServer, path: string): Promise<unknown> {
  return (await server.call('GET', `${path}/state`)).body.data.outputs['Message:M'].content;
}

const said = ({ request }: HeldCall): unknown => request.messages.at(-1)?.content;

describe('what is said to a run', () => {
  it('joins before the next call of the model, once for each id, and its events tell it', async () => {
    const { server, path, next, first, stream } = await serve();
    for (const content of ['In one word.', 'In one word, please.']) {
      expect((await server.call('POST', `${path}/inputs`, { id: 'i', content })).body.data).toEqual({ id: 'i' });
    }
    first.answer('It is a long story.');
    const second = await next();
    expect(second.request.messages.slice(-2)).toEqual([
      { role: 'assistant', content: 'It is a long story.' },
      { role: 'user', content: 'In one word.', id: 'i' },
    ]);
    second.answer('Love.');
    await stream.rest();
    expect(await answerOf(server, path)).toBe('It is a long story.\n\nLove.');
    const events = await openStream(`${server.url}${path}/events?view=engine`);
    const notices = (await events.rest()).filter(({ json }) => json?.name === 'input-delivered');
    expect(notices.map(({ json }) => json.data)).toEqual([
      { id: 'i', content: 'In one word.', agent: 'Agent:A', round: 2 },
    ]);
  });

  it('is given to those who ask, also before an agent has heard it', async () => {
    const { server, path, next, first, stream } = await serve(TWO_AGENTS);
    expect((await server.call('GET', `${path}/inputs`)).body.data).toEqual([]);
    await server.call('POST', `${path}/inputs`, { id: '1', content: 'In one word.' });
    await server.call('POST', `${path}/inputs`, { id: '2', content: 'In Latin.', to: 'Agent:B' });
    const all = [
      { id: '1', content: 'In one word.', to: null },
      { id: '2', content: 'In Latin.', to: 'Agent:B' },
    ];
    expect((await server.call('GET', `${path}/inputs`)).body.data).toEqual(all);
    first.answer('It is a long story.');
    for (let call = 0; call < 2; call += 1) (await next()).answer('Love.');
    await stream.rest();
    expect((await server.call('GET', `${path}/inputs`)).body.data).toEqual(all);
  });

  it('is for the node that it names alone', async () => {
    const { server, path, next, first, stream } = await serve(TWO_AGENTS);
    await server.call('POST', `${path}/inputs`, { content: 'For B.', to: 'Agent:B' });
    await server.call('POST', `${path}/inputs`, { content: 'For A.', to: 'Agent:A' });
    first.answer('It is a long story.');
    const second = await next();
    expect(second.request.messages.map(({ content }) => content)).not.toContain('For B.');
    expect(said(second)).toBe('For A.');
    second.answer('Love.');
    const third = await next();
    expect(said(third)).toBe('For B.');
    third.answer('Yes.');
    await stream.rest();
  });

  it('is refused for a node that the run does not have', async () => {
    const { server, path, first, stream } = await serve();
    const { body } = await server.call('POST', `${path}/inputs`, { content: 'Hm.', to: 'Agent:a' });
    expect(body.message).toBe(
      '`to` must be the id of an Agent of the run; it has no node "Agent:a". Did you mean "Agent:A"?',
    );
    first.answer('Done.');
    await stream.rest();
  });

  it('is there for an agent that begins later', async () => {
    const { server, path, next, first, stream } = await serve(TWO_AGENTS);
    await server.call('POST', `${path}/inputs`, { content: 'In one word.', to: 'Agent:B' });
    first.answer('It is a long story.');
    const second = await next();
    expect(second.request.messages.slice(-2).map(({ content }) => content)).toEqual([
      'It is a long story.',
      'In one word.',
    ]);
    second.answer('Love.');
    await stream.rest();
  });

  it('comes over a WebSocket and from a page of the AI SDK as well', async () => {
    const { server, id, run, session, next, first, stream } = await serve();
    const client = await connect(server.url, id);
    await client.next();
    client.send({ type: 'input', req: 1, run_id: run, id: 'ws', content: 'In one word.' });
    expect(await client.next()).toEqual({ type: 'kept', req: 1, run_id: run, id: 'ws' });
    first.answer('It is a long story.');
    const second = await next();
    expect(said(second)).toBe('In one word.');
    const page = `${AGENTS}/${id}/ui-messages/${session}/inputs`;
    expect((await server.call('POST', page, { id: 'ui', content: 'In Latin.' })).body.data).toEqual({ id: 'ui' });
    second.answer('Love.');
    const third = await next();
    expect(said(third)).toBe('In Latin.');
    third.answer('Amor.');
    await stream.rest();
    expect((await server.call('POST', page, { content: 'Again.' })).body.message).toMatch(/is over/);
  });

  it.each([
    ['nothing', {}, /`content`/],
    ['too much', { content: 'x'.repeat(10_001) }, /`content`/],
    ['an empty id', { content: 'x', id: '' }, /`id`/],
  ])('is refused: %s', async (_, body, message) => {
    const { server, path, first, stream } = await serve();
    expect((await server.call('POST', `${path}/inputs`, body)).body).toMatchObject({ code: 101, message });
    first.answer('Done.');
    await stream.rest();
    const late = await server.call('POST', `${path}/inputs`, { content: 'x' });
    expect(late.body.message).toMatch(/is over \(succeeded\)/);
    expect((await server.call('POST', `${path}x/inputs`, { content: 'x' })).body.code).toBe(102);
  });
});
