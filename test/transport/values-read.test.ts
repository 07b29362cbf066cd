/** The values that nodes read, as the API gives them. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { documentOf } from './support/documents.js';
import { engineEvents } from './support/event-stream.js';
import { startServer, type TestServer } from './support/server.js';

/** What the `nth` activation of a node read. */
async function readsOf(server: TestServer, agent: string, run: string, node: string, nth = 0) {
  const events = await engineEvents(server.url, agent, run);
  const began = events.filter((one) => one.node === node && /^node-(started|skipped)$/.test(String(one.type)))[nth];
  const ended = events.find(
    (one) => one.token === began?.token && /^node-(settled|failed)$/.test(String(one.type)) && one.node === node,
  );
  const until = ended === undefined ? '' : `&until=${ended.seq}`;
  const path = `/api/v1/agents/${agent}/runs/${run}/reads?at=${began?.seq}${until}`;
  const { body } = await server.call('GET', path);
  expect(body).toMatchObject({ code: 0, data: { run_id: run, component_id: node, event_id: began?.seq } });
  return body.data.reads as readonly JsonObject[];
}

const run = async (server: TestServer, agent: string, body: JsonObject): Promise<string> =>
  (await server.call('POST', `/api/v1/agents/${agent}/run`, body)).body.data.run_id;

const pick = (reads: readonly JsonObject[]) => reads.map(({ reference, status, value }) => [reference, status, value]);

describe('the values that a node read', () => {
  it('are those when it began, of variables, outputs and paths, each once with where it stands', async () => {
    const server = await startServer();
    const id = await server.agent(
      documentOf({
        begin: ['Begin', ['Message:A'], { inputs: { city: { name: 'City', type: 'line', optional: true } } }],
        'Message:A': ['Message', ['Message:B'], { content: ['to {begin@city}'] }],
        'Message:B': [
          'Message',
          [],
          { content: ['{Message:A@content}, {sys.query}, {sys.query}, {Message:A@nothing}'] },
        ],
      }),
    );
    const made = await run(server, id, { query: 'when?', inputs: { city: 'Rome' } });
    expect(await readsOf(server, id, made, 'Message:B')).toEqual([
      {
        reference: 'Message:A@content',
        params: ['content.0'],
        status: 'found',
        value: 'to Rome',
        bytes: 9,
        is_cut: false,
      },
      { reference: 'sys.query', params: ['content.0'], status: 'found', value: 'when?', bytes: 7, is_cut: false },
      { reference: 'Message:A@nothing', params: ['content.0'], status: 'unknown', bytes: 0, is_cut: false },
    ]);
    expect(pick(await readsOf(server, id, made, 'Message:A'))).toEqual([['begin@city', 'found', 'Rome']]);
  });

  it('are those of its own pass in a body', async () => {
    const server = await startServer();
    const id = await server.agent(
      documentOf({
        begin: ['Begin', ['Iteration:I'], { inputs: { words: { name: 'Words', type: 'line', optional: true } } }],
        'Iteration:I': ['Iteration', [], { items_ref: 'begin@words' }],
        'IterationItem:S': ['IterationItem', ['Message:P'], {}, 'Iteration:I'],
        'Message:P': ['Message', [], { content: ['{index}: {item}'] }, 'Iteration:I'],
      }),
    );
    const made = await run(server, id, { query: 'x', inputs: { words: ['one', 'two'] } });
    for (const [nth, word] of ['one', 'two'].entries()) {
      expect(pick(await readsOf(server, id, made, 'Message:P', nth))).toEqual([
        ['index', 'found', nth],
        ['item', 'found', word],
      ]);
    }
    expect(pick(await readsOf(server, id, made, 'Iteration:I'))).toEqual([['begin@words', 'found', ['one', 'two']]]);
  });

  it('say what came while the node was at work', async () => {
    const server = await startServer({
      models: JSON.stringify({ scripted: { default: { reply_stream: ['a', 'b'] } } }),
    });
    const id = await server.agent(
      documentOf({
        begin: ['Begin', ['LLM:Say']],
        'LLM:Say': [
          'LLM',
          ['Message:Reply'],
          { llm_id: 'scripted', sys_prompt: 'x', prompts: [{ role: 'user', content: '{sys.query}' }] },
        ],
        'Message:Reply': ['Message', [], { content: ['{LLM:Say@content}'] }],
      }),
    );
    const made = await run(server, id, { query: 'go' });
    expect(pick(await readsOf(server, id, made, 'LLM:Say'))).toEqual([['sys.query', 'found', 'go']]);
    expect(pick(await readsOf(server, id, made, 'Message:Reply'))).toEqual([['LLM:Say@content', 'later', 'ab']]);
  });

  it('are those of the document that the run executed, also when the draft has changed since', async () => {
    const server = await startServer();
    const documentWith = (text: string) =>
      documentOf({ begin: ['Begin', ['Message:A']], 'Message:A': ['Message', [], { content: [text] }] });
    const id = await server.agent(documentWith('{sys.query}'));
    const made = await run(server, id, { query: 'x' });
    await server.call('PATCH', `/api/v1/agents/${id}`, { dsl: documentWith('{sys.user_id}') });
    expect(pick(await readsOf(server, id, made, 'Message:A'))).toEqual([['sys.query', 'found', 'x']]);
  });

  it('of a node that was passed over say what was missing', async () => {
    const server = await startServer();
    const id = await server.agent(
      documentOf({
        begin: ['Begin', ['Message:A']],
        'Message:A': ['Message', [], { content: ['{Message:X@content} {sys.query}'] }],
        'Message:X': ['Message', [], { content: ['x'] }],
      }),
    );
    const made = await run(server, id, { query: 'q' });
    expect(pick(await readsOf(server, id, made, 'Message:A'))).toEqual([
      ['Message:X@content', 'unset', undefined],
      ['sys.query', 'found', 'q'],
    ]);
  });

  it('have neither secrets nor more than has room', async () => {
    const server = await startServer();
    const long = 'long '.repeat(4_000);
    const dsl = {
      ...documentOf({
        begin: ['Begin', ['Message:A'], { inputs: { body: { name: 'Body', type: 'line', optional: true } } }],
        'Message:A': ['Message', [], { content: ['{env.api_key} {env.place} {begin@body} {sys.query}'] }],
      }),
      variables: {
        api_key: { name: 'api_key', type: 'string', value: 'open sesame' },
        place: { name: 'place', type: 'object', value: { city: 'Rome', password: 'open sesame' } },
      },
    };
    const id = await server.agent(dsl);
    const made = await run(server, id, { query: 'sk-0123456789abcdef0123 is it', inputs: { body: long } });
    const reads = await readsOf(server, id, made, 'Message:A');
    expect(JSON.stringify(reads)).not.toContain('sesame');
    expect(pick(reads)).toEqual([
      ['env.api_key', 'hidden', undefined],
      ['env.place', 'found', { city: 'Rome', password: '(hidden)' }],
      ['begin@body', 'found', long.slice(0, 8_192)],
      ['sys.query', 'found', '(hidden) is it'],
    ]);
    expect(reads[2]).toMatchObject({ is_cut: true, bytes: long.length + 2 });
  });

  it.each([
    ['2147483', /received 2147483/],
    ['1', /with which a node began.*received 1/],
    ['x', /`at` must be/],
  ])('at %s are refused', async (at, message) => {
    const server = await startServer();
    const id = await server.agent(documentOf({ begin: ['Begin', []] }));
    const made = await run(server, id, { query: 'x' });
    const { body } = await server.call('GET', `/api/v1/agents/${id}/runs/${made}/reads?at=${at}`);
    expect(body).toMatchObject({ code: 101, message: expect.stringMatching(message) });
  });
});
