/** Messages, tools and documents as programs have them that were written for CloudWeGo Eino: each behaviour that they rely on, with what the pages say. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { from, of } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type AssistantChunk,
  type AssistantMessage,
  type ChatDelta,
  type ChatMessage,
  type ChatRequest,
  chain,
  chatModel,
  componentStep,
  concatMessages,
  defineState,
  defineTool,
  fileLoader,
  fString,
  graph,
  hasToolCall,
  invoke,
  knowledgeDocument,
  map,
  memoryIndex,
  messageParser,
  multiQuery,
  options,
  parallel,
  parentIndexer,
  parentRetriever,
  parserByExtension,
  placeholder,
  resumeFrom,
  routeRetrievers,
  splitByCharacters,
  splitByHeadings,
  stream,
  system,
  type ToolMessage,
  toolsNode,
  user,
  userMessage,
} from '../../../src/index.js';
import { chunksOf, failure, spaced } from '../cases/support.js';
import { callOf, said } from '../support/tool-calls.js';
import { attempt, waiting } from '../support/waiting-runs.js';

const texts = (messages: readonly ToolMessage[]) => messages.map(({ content }) => content);

/** A model that gives these answers, one after the other, and what it was asked. */
function modelOf(...answers: readonly AssistantMessage[]) {
  const asked: ChatRequest[] = [];
  const model = {
    chat: (request: ChatRequest) => {
      const answer = answers[asked.length] ?? { role: 'assistant' as const, content: 'done' };
      asked.push(request);
      return from([
        { type: 'text', text: answer.content },
        ...(answer.toolCalls ?? []).map((call, index) => ({ type: 'tool-call', index, ...call }) as const),
        { type: 'finish', reason: 'stop' },
      ] satisfies ChatDelta[]);
    },
  };
  return { model, asked };
}

describe('messages in pieces', () => {
  it('join the calls of several tools by their index, whatever came between, on the way to a function', async () => {
    const pieces: AssistantChunk[] = [
      { role: 'assistant', content: 'I ', toolCalls: [{ index: 0, id: 'a', name: 'look', arguments: '{"q"' }] },
      { role: 'assistant', toolCalls: [{ index: 1, id: 'b', name: 'add', arguments: '{' }] },
      { role: 'assistant', content: 'look', toolCalls: [{ index: 0, arguments: ':"x"}' }] },
      { role: 'assistant', toolCalls: [{ index: 1, arguments: '}' }], finishReason: 'tool_calls' },
    ];
    const whole = chain(
      (_: string) => spaced(...pieces),
      (message) => message,
    );
    expect(await invoke(whole, '')).toEqual({
      role: 'assistant',
      content: 'I look',
      toolCalls: [
        { id: 'a', name: 'look', arguments: '{"q":"x"}' },
        { id: 'b', name: 'add', arguments: '{}' },
      ],
      finishReason: 'tool_calls',
    });
  });

  it('join parts of one kind and keep the order of the others', () => {
    const joined = concatMessages([
      { role: 'assistant', content: 'a', parts: [{ type: 'text', text: 'a', index: 0 }] },
      { role: 'assistant', content: 'b', parts: [{ type: 'text', text: 'b', index: 0 }] },
      { role: 'assistant', parts: [{ type: 'image', data: 'AA==', mimeType: 'image/png', index: 1 }] },
      { role: 'assistant', content: 'c', parts: [{ type: 'text', text: 'c', index: 2 }] },
    ] as AssistantChunk[]);
    expect(joined.content).toBe('abc');
    expect(joined.parts?.map((part) => [part.type, 'text' in part ? part.text : undefined])).toEqual([
      ['text', 'ab'],
      ['image', undefined],
      ['text', 'c'],
    ]);
  });

  it('refuse pieces of two calls under one index', () => {
    const pieces = [
      { index: 0, id: 'a', name: 'look' },
      { index: 0, id: 'b' },
    ].map((call): AssistantChunk => ({ role: 'assistant', toolCalls: [call] }));
    expect(() => concatMessages(pieces)).toThrow(failure('CHUNKS_INVALID', /id/));
  });

  it('are parsed at a path of the arguments of a call', async () => {
    const parser = messageParser(z.number(), { from: 'toolCall', path: 'value.inside' });
    expect(await invoke(parser, said(callOf('c', 'give', { value: { inside: 5 } })))).toBe(5);
    await expect(invoke(parser, said(callOf('c', 'give', { value: {} })))).rejects.toEqual(
      failure('OUTPUT_INVALID', /inside/),
    );
  });
});

describe('prompts', () => {
  it('take documents as fields, histories that may be missing, and pictures', async () => {
    const docs = [knowledgeDocument({ id: '1', text: 'qwe' }), knowledgeDocument({ id: '2', text: 'asd' })];
    const prompt = fString(
      system('All: {docs}'),
      placeholder('history', { optional: true }),
      user([
        { type: 'text', text: 'What is on {page}?' },
        { type: 'image_url', url: '{picture}' },
      ]),
    );
    const filled = await invoke(prompt, { docs: docs as never, page: 'one', picture: 'https://example.org/a.png' });
    expect(filled).toHaveLength(2);
    expect(JSON.stringify(filled)).toMatch(/qwe.*asd.*What is on one\?.*https:\/\/example\.org\/a\.png/);
  });
});

describe('tools', () => {
  const slow = (name: string, result: string, afterTurns: number) =>
    defineTool({
      name,
      description: name,
      run: async () => {
        for (let turn = 0; turn < afterTurns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        return result;
      },
    });

  it('run side by side, and answer in the order of the calls', async () => {
    const node = toolsNode({ tools: [slow('late', 'L', 4), slow('soon', 'S', 1)] });
    expect(texts(await invoke(node, said(callOf('1', 'late'), callOf('2', 'soon'))))).toEqual(['L', 'S']);
  });

  it('stream what they give, each piece at the place of its call', async () => {
    const spell = defineTool({
      name: 'spell',
      description: 'Spells.',
      input: z.object({ word: z.string() }),
      run: ({ word }) => spaced(...word),
    });
    const node = toolsNode({ tools: [spell] });
    const message = said(callOf('1', 'spell', { word: 'ab' }), callOf('2', 'spell', { word: 'xyz' }));
    const lists = (await chunksOf(node, message)) as readonly (readonly ToolMessage[])[];
    expect(lists.length).toBeGreaterThan(2);
    expect(lists.every((list) => list.length === 2)).toBe(true);
    expect(texts(await invoke(node, message))).toEqual(['ab', 'xyz']);
  });

  it('that are not there are answered by a handler, and failures by text, when they are told so', async () => {
    const broken = defineTool({
      name: 'broken',
      description: 'Breaks.',
      run: (): string => {
        throw new Error('no ink');
      },
    });
    const message = said(callOf('1', 'nope'), callOf('2', 'broken'));
    const kind = toolsNode({ tools: [broken], unknownTool: ({ name }) => `There is no ${name}.`, errorsAsText: true });
    const [unknown, failed] = texts(await invoke(kind, message));
    expect(unknown).toBe('There is no nope.');
    expect(failed).toContain('no ink');
    await expect(invoke(toolsNode({ tools: [broken] }), message)).rejects.toEqual(
      failure('TOOL_UNKNOWN', /There is no tool "nope"\. The tools are: broken\./),
    );
    await expect(invoke(toolsNode({ tools: [broken] }), said(callOf('2', 'broken')))).rejects.toEqual(
      failure('TOOL_FAILED', /broken.*no ink/),
    );
  });

  it('are others in one run that names them', async () => {
    const node = toolsNode({ tools: [slow('one', '1', 0)] });
    const given = { with: [options(node, { tools: [slow('two', '2', 0)] })] };
    expect(texts(await invoke(node, said(callOf('1', 'two')), given))).toEqual(['2']);
    await expect(invoke(node, said(callOf('1', 'one')), given)).rejects.toEqual(failure('TOOL_UNKNOWN', /two/));
  });

  it('ask one by one in a loop with a model; what was answered is not asked again, and a later call is new', async () => {
    const began: [string, boolean, unknown][] = [];
    const careful = defineTool({
      name: 'careful',
      description: 'Asks first.',
      input: z.object({ input: z.string() }),
      run: ({ input }, call) => {
        began.push([input, call.isResumed, call.answer]);
        return call.answer === undefined ? call.interrupt(`May I ${input}?`) : `${input}: ${call.answer}`;
      },
    });
    const Talk = defineState('talk', () => ({ messages: [] as ChatMessage[] }));
    const { model, asked } = modelOf(
      said(callOf('call_1', 'careful', { input: 'a' }), callOf('call_2', 'careful', { input: 'b' })),
      said(callOf('call_3', 'careful', { input: 'c' })),
      { role: 'assistant', content: 'all done' },
    );
    const react = graph<ChatMessage[], AssistantMessage>(
      'react',
      (g) => {
        const think = g.node('model', chatModel(model, { tools: [careful] }), {
          before: (input: ChatMessage[], at) => at.state(Talk).append('messages', ...input).messages,
        });
        const act = g.node('tools', toolsNode({ tools: [careful] }), {
          before: (answer, at) => at.state(Talk).append('messages', answer) && answer,
        });
        g.edge(g.start, think);
        g.streamBranch(think, { act, end: g.end }, hasToolCall({ tools: 'act' }));
        g.edge(act, think);
      },
      { state: Talk },
    );
    const first = await waiting(react, [userMessage('start')]);
    expect(first.questions.map(({ address }) => address)).toEqual(['tools#call_1', 'tools#call_2']);
    const second = await waiting(react, resumeFrom(first.checkpoint, { 'tools#call_1': 'yes' }));
    expect(second.questions.map(({ address }) => address)).toEqual(['tools#call_2']);
    const third = await waiting(react, resumeFrom(second.checkpoint, { 'tools#call_2': 'no' }));
    expect(third.questions.map(({ address }) => address)).toEqual(['tools#call_3']);
    const last = await attempt(react, resumeFrom(third.checkpoint, { 'tools#call_3': 'yes' }));
    expect(last).toMatchObject({ status: 'done', value: { content: 'all done' } });
    expect(began).toEqual([
      ['a', false, undefined],
      ['b', false, undefined],
      ['a', true, 'yes'],
      ['b', true, 'no'],
      ['c', false, undefined],
      ['c', true, 'yes'],
    ]);
    expect(asked.map(({ messages }) => messages.map(({ content }) => content))).toEqual([
      ['start'],
      ['start', '', 'a: yes', 'b: no'],
      ['start', '', 'a: yes', 'b: no', '', 'c: yes'],
    ]);
  });
});

describe("models of one's own", () => {
  it.each<[string, unknown, string, string]>([
    ['a promise', Promise.resolve('hi'), 'NODE_PROTOCOL', 'The model of "model" must give an Observable of pieces'],
    ['pieces without a type', of({ text: 'hi' }), 'MODEL_RESPONSE', 'with the type undefined. Give { type: '],
  ])('say what they must give when they give %s', async (_, given, code, message) => {
    const error = await invoke(chatModel({ chat: () => given as never }), [userMessage('hi')]).catch(
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
  });
});

describe('models side by side', () => {
  it('stream under their keys, and give one object', async () => {
    const both = parallel({
      poet: chain(chatModel(modelOf({ role: 'assistant', content: 'roses' }).model), ({ content }) => content),
      critic: chain(chatModel(modelOf({ role: 'assistant', content: 'meh' }).model), ({ content }) => content),
    });
    expect(await invoke(both, [userMessage('write')])).toEqual({ poet: 'roses', critic: 'meh' });
    const keys = new Set<string>();
    for await (const chunk of stream(both, [userMessage('write')])) for (const key of Object.keys(chunk)) keys.add(key);
    expect([...keys].sort()).toEqual(['critic', 'poet']);
  });
});

describe('documents', () => {
  let root = '';
  beforeAll(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'runnel-'));
    await writeFile(
      path.join(root, 'a.md'),
      '# Filter\n\nChanged every 4,000 hours.\n\n# Oil\n\nChanged every year.\n',
    );
    await writeFile(path.join(root, 'b.note'), 'Belts are checked every month.');
  });
  afterAll(() => rm(root, { recursive: true }));

  it('are loaded with their source, parsed by their ending or by a parser of ones own, and split with what they had', async () => {
    const note = async ({ bytes, uri }: { bytes: Uint8Array; uri: string }) => [
      knowledgeDocument({ id: uri, text: new TextDecoder().decode(bytes), metadata: { type: 'note' } }),
    ];
    const load = fileLoader({ root, parser: parserByExtension({ parsers: { note } }) });
    const read = chain(map(componentStep(load)), (lists) => lists.flat(), componentStep(splitByHeadings()));
    const given = { with: [options(load, { metadata: { owner: 'ada' } })] };
    const parts = await invoke(read, ['a.md', 'b.note'], given);
    expect(parts.map(({ id, metadata }) => [id, metadata?.source ?? metadata?.type, metadata?.headings])).toEqual([
      ['a.md#0', 'a.md', ['Filter']],
      ['a.md#1', 'a.md', ['Oil']],
      ['b.note#0', 'note', []],
    ]);
    expect(parts.slice(0, 2).map(({ metadata }) => metadata?.owner)).toEqual(['ada', 'ada']);
  });

  it('are stored in parts and found as a whole, each once', async () => {
    const parts = memoryIndex();
    const wholes = memoryIndex({ name: 'wholes' });
    const store = parentIndexer({
      indexer: parts.index,
      split: splitByCharacters({ size: 30 }),
      parents: wholes.index,
      idOf: (parent, index) => `${parent}_part_${index}`,
    });
    const one = knowledgeDocument({
      id: 'd1',
      text: 'The filter is changed often. The filter is also cleaned. Oil is not.',
    });
    const ids = await invoke(componentStep(store), [one]);
    expect(ids.every((id, at) => id === `d1_part_${at}`)).toBe(true);
    expect(ids.length).toBeGreaterThan(1);
    const find = parentRetriever({ retriever: parts.retrieve, parents: wholes.get });
    const found = await invoke(componentStep(find), 'filter');
    expect(found.map(({ id, text }) => [id, text])).toEqual([['d1', one.text]]);
  });

  it('are found by several retrievers and fused by rank, or by one that a router chose', async () => {
    const giving =
      (...ids: readonly string[]) =>
      async () =>
        ids.map((id) => knowledgeDocument({ id, text: id }));
    const retrievers = { a: giving('1', '2', '3'), b: giving('2', '4'), c: giving('5') };
    const ab = routeRetrievers({ retrievers, route: () => ['a', 'b'] });
    expect((await ab('x')).map(({ id }) => id)).toEqual(['2', '1', '4', '3']);
    await expect(routeRetrievers({ retrievers, route: () => ['d'] })('x')).rejects.toEqual(
      failure('NOT_FOUND', /no retriever "d"\. There are: a, b, c\./),
    );
    const many = multiQuery({ retriever: giving('1', '2'), rewrite: () => ['x', 'y', 'x'] });
    expect((await many('x')).map(({ id }) => id)).toEqual(['1', '2']);
  });
});
