/** The document of a session: the agent's canvas with the state of the conversation, as RAGFlow stores it. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { documentOf, ECHO, FORM, PROBE } from './support/documents.js';
import { startServer, type TestServer } from './support/server.js';

/** An agent whose author ran it in an editor before: its document carries the state of that conversation. */
const USED: JsonObject = {
  ...ECHO,
  globals: { 'sys.query': 'old', 'sys.history': ['user: old'], 'env.city': 'Rome' },
  variables: { city: { name: 'city', type: 'string', value: 'Oslo', description: '' } },
  history: [['user', 'old']],
  path: ['begin', 'Message:A'],
  retrieval: [{ chunks: {}, doc_aggs: {} }],
  memory: [['a', 'b', 'c']],
  mine: { kept: true },
};

const ASSIGN = documentOf({
  begin: ['Begin', ['VariableAssigner:V']],
  'VariableAssigner:V': [
    'VariableAssigner',
    ['Message:A'],
    { variables: [{ variable: 'env.city', operator: 'set', parameter: 'Bergen' }] },
  ],
  'Message:A': ['Message', [], { content: ['{env.city}'] }],
});

describe('the document of a session', () => {
  it('has the state that its runs left, in the row and in the list', async () => {
    const { ask, row, listed } = await open(ECHO);
    await ask('hi');
    await ask('there');
    const dsl = await row();
    expect(dsl).toMatchObject({
      components: ECHO.components,
      globals: {
        'sys.query': 'there',
        'sys.conversation_turns': 2,
        'sys.history': ['user: hi', 'assistant: you said hi', 'user: there', 'assistant: you said there'],
      },
      history: [
        ['user', 'hi'],
        ['assistant', { content: 'you said hi' }],
        ['user', 'there'],
        ['assistant', { content: 'you said there' }],
      ],
      path: ['begin', 'Message:A', 'begin', 'Message:A'],
      retrieval: [
        { chunks: {}, doc_aggs: {} },
        { chunks: {}, doc_aggs: {} },
      ],
      memory: [],
    });
    expect(Object.keys(dsl.globals as JsonObject).filter((key) => !/^(?:sys|env)\./.test(key))).toEqual([]);
    expect(await listed()).toEqual(dsl);
  });

  it('has variables as nodes set them', async () => {
    const { ask, row } = await open({
      ...ASSIGN,
      globals: { 'sys.query': '', 'env.city': 'Rome' },
      variables: { city: { name: 'city', type: 'string', value: 'Oslo', description: '' } },
    });
    await ask('hi');
    const dsl = await row();
    expect(dsl.globals).toMatchObject({ 'env.city': 'Bergen' });
    expect(dsl.variables).toMatchObject({ city: { value: 'Oslo' } });
  });

  it('has the forms that wait as its path, and what came after them', async () => {
    const { ask, row } = await open(FORM);
    await ask('hi');
    expect((await row()).path).toEqual(['UserFillUp:B']);
    await ask('', { city: { type: 'line', value: 'Oslo' } });
    const dsl = await row();
    expect(dsl.path).toEqual(['UserFillUp:B', 'Message:C']);
    expect(dsl.history).toMatchObject([
      ['user', 'hi'],
      ['user', ''],
      ['assistant', { content: 'to Oslo' }],
    ]);
  });

  it('has the nodes that ran before a run failed', async () => {
    const { ask, row, server } = await open(PROBE);
    const turn = ask('hi');
    (await server.probes.next()).fail(new Error('no'));
    await turn;
    expect(await row()).toMatchObject({ path: ['begin', 'Probe:P'], history: [['user', 'hi']] });
  });

  it('is reset before the first run: nothing of what the author’s document went through', async () => {
    const server = await startServer();
    const id = await server.agent(USED);
    const made = (await server.call('POST', `/api/v1/agents/${id}/sessions`, {})).body.data;
    expect(made.dsl).toMatchObject({
      components: ECHO.components,
      globals: { 'sys.query': '', 'sys.history': [], 'env.city': 'Oslo' },
      variables: USED.variables,
      history: [],
      path: [],
      retrieval: [],
      memory: [],
      mine: { kept: true },
    });
    expect((await server.call('GET', `/api/v1/agents/${id}/sessions/${made.id}`)).body.data.dsl).toEqual(made.dsl);
  });

  it('is a document of version 2 as it was written, which has no room for state', async () => {
    const second: JsonObject = {
      version: 2,
      components: {
        begin: { id: 'begin', name: 'Begin', downstream: ['Message_A'], params: {} },
        Message_A: { id: 'Message_A', name: 'Message', downstream: [], params: { content: ['hi'] } },
      },
    };
    const { ask, row } = await open(second);
    await ask('hi');
    expect(await row()).toEqual(second);
  });
});

interface Conversation {
  readonly server: TestServer;
  /** One turn of the session. */
  ask(query: string, inputs?: JsonObject): Promise<void>;
  /** `dsl` of the session as its row and as the list of sessions shows it. */
  row(): Promise<JsonObject>;
  listed(): Promise<JsonObject>;
}

async function open(dsl: JsonObject): Promise<Conversation> {
  const server = await startServer();
  const id = await server.agent(dsl);
  let session_id: string | undefined;
  const sessions = `/api/v1/agents/${id}/sessions`;
  return {
    server,
    async ask(query, inputs = {}) {
      const { body } = await server.call('POST', '/api/v1/agents/chat/completions', {
        agent_id: id,
        query,
        inputs,
        stream: false,
        ...(session_id === undefined ? {} : { session_id }),
      });
      session_id = body.data.session_id;
    },
    row: async () => (await server.call('GET', `${sessions}/${session_id}`)).body.data.dsl,
    listed: async () => (await server.call('GET', sessions)).body.data[0].dsl,
  };
}
