/** Programs with prompts, models, tools, messages and documents, written from the pages of the library alone. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  assistant,
  chain,
  chatModel,
  componentStep,
  concatMessages,
  createScriptedModel,
  defineTool,
  fString,
  graph,
  handlebars,
  hasToolCall,
  invoke,
  jinja,
  knowledgeDocument,
  memoryIndex,
  messageParser,
  multiQuery,
  parseMessage,
  placeholder,
  reciprocalRank,
  splitByCharacters,
  stream,
  system,
  type ToolMessage,
  toolsNode,
  user,
} from '../../../src/index.js';
import { failure } from '../cases/support.js';
import { callOf, said } from '../support/tool-calls.js';

const texts = (messages: readonly ToolMessage[]) => messages.map(({ content }) => content);

describe('programs of prompts', () => {
  it('fill names, history and parts, in all three languages', async () => {
    const history = [{ role: 'user' as const, content: 'Hi' }];
    const write = (text: string) =>
      [system(text), placeholder('history', { optional: true }), user('And {what}?')] as const;
    const filled = await invoke(fString(...write('You are {who}.')), { who: 'Ada', what: 'now', history });
    expect(filled.map(({ content }) => content)).toEqual(['You are Ada.', 'Hi', 'And now?']);
    expect(await invoke(fString(...write('You are {who}.')), { who: 'Ada', what: 'now' })).toHaveLength(2);
    expect(await invoke(jinja(user('{% for n in names %}{{ n }};{% endfor %}')), { names: ['a', 'b'] })).toMatchObject([
      { content: 'a;b;' },
    ]);
    expect(await invoke(handlebars(user('{{#if loud}}HEY{{else}}hey{{/if}}')), { loud: true })).toMatchObject([
      { content: 'HEY' },
    ]);
  });

  it('say which field is missing, and that a placeholder takes messages', async () => {
    const prompt = fString(user('Hello {name}'), placeholder('history'));
    await expect(invoke(prompt, { history: [] } as never)).rejects.toEqual(failure('TEMPLATE_FIELD_MISSING', /name/));
    await expect(invoke(prompt, { name: 'Ada', history: 'Hi' } as never)).rejects.toEqual(
      failure('PLACEHOLDER_INVALID', /history/),
    );
  });

  it('keep braces that are doubled, and what an assistant said before', async () => {
    const prompt = fString(assistant('Use {{x}} as {value}.'));
    expect(await invoke(prompt, { value: 'y' })).toMatchObject([{ role: 'assistant', content: 'Use {x} as y.' }]);
  });
});

describe('programs of messages', () => {
  it('join chunks: text, tool calls by index, the last reason, the largest cost', () => {
    const joined = concatMessages([
      { role: 'assistant', content: 'Let ', toolCalls: [{ index: 0, id: 'a', name: 'look', arguments: '{"q":' }] },
      { role: 'assistant', content: 'me.', toolCalls: [{ index: 1, id: 'b', name: 'add', arguments: '{}' }] },
      { role: 'assistant', toolCalls: [{ index: 0, arguments: '"x"}' }], finishReason: 'tool_calls' },
    ] as never) as unknown as { content: string; toolCalls: { id: string; arguments: string }[] };
    expect(joined.content).toBe('Let me.');
    expect(joined.toolCalls.map(({ id, arguments: text }) => [id, text])).toEqual([
      ['a', '{"q":"x"}'],
      ['b', '{}'],
    ]);
  });

  it('refuse chunks of different roles', () => {
    const mixed = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
    ] as never;
    expect(() => concatMessages(mixed)).toThrow(expect.objectContaining({ code: 'CHUNKS_INVALID' }));
  });

  it('are parsed from their content or a tool call, at a path, and say what does not fit', async () => {
    const title = z.object({ title: z.string() });
    expect(parseMessage(title)({ content: '```json\n{"title":"Oslo"}\n```' })).toEqual({ title: 'Oslo' });
    const call = { id: '1', name: 'give', arguments: '{"data":{"title":"Rome"}}' };
    expect(parseMessage(title, { from: 'toolCall', path: 'data' })({ content: '', toolCalls: [call] })).toEqual({
      title: 'Rome',
    });
    const model = createScriptedModel({ default: { reply: '{"title":5}' } });
    await expect(
      invoke(chain(chatModel(model), messageParser(title)), [{ role: 'user', content: 'x' }]),
    ).rejects.toEqual(failure('OUTPUT_INVALID', /title/));
  });
});

describe('programs of tools', () => {
  const add = defineTool({
    name: 'add',
    description: 'Adds.',
    input: z.object({ a: z.number(), b: z.number() }),
    run: ({ a, b }) => a + b,
  });

  it('give results in the order of the calls, text for text and JSON for the rest', async () => {
    const list = defineTool({
      name: 'list',
      description: 'Lists.',
      input: z.object({}),
      run: async () => ({ items: [1] }),
    });
    const say = defineTool({ name: 'say', description: 'Says.', input: z.object({}), run: () => 'plain "text"' });
    const made = toolsNode({ tools: [list, say, add] });
    const results = await invoke(
      made,
      said(callOf('1', 'list', {}), callOf('2', 'say', {}), callOf('3', 'add', { a: 1, b: 2 })),
    );
    expect(texts(results)).toEqual(['{"items":[1]}', 'plain "text"', '3']);
    expect(results.map(({ toolCallId }) => toolCallId)).toEqual(['1', '2', '3']);
  });

  it('find tools and arguments under other names, and leave what is right alone', async () => {
    const made = toolsNode({
      tools: [add],
      aliases: { add: { names: ['plus'], arguments: { a: ['left'], b: ['right'] } } },
    });
    const results = await invoke(
      made,
      said(callOf('1', 'plus', { left: 2, right: 3 }), callOf('2', 'add', { a: 1, b: 1 })),
    );
    expect(texts(results)).toEqual(['5', '2']);
  });

  it('answer for tools that are not there, and turn errors into text for the model', async () => {
    const made = toolsNode({ tools: [add], unknownTool: ({ name }) => `no ${name}`, errorsAsText: true });
    const results = await invoke(made, said(callOf('1', 'divide', {}), callOf('2', 'add', { a: 'x', b: 1 })));
    expect(texts(results)[0]).toBe('no divide');
    expect(texts(results)[1]).toMatch(/arguments of add do not fit/);
  });

  it('loop between a model and its tools until it answers, live', async () => {
    const model = createScriptedModel({
      rules: [
        { when: { user: 'sum' }, times: 1, tool_calls: [{ name: 'add', arguments: { a: 2, b: 5 } }] },
        { when: { user: 'sum' }, reply_stream: ['It is ', '7.'] },
      ],
    });
    type Messages = { readonly role: string; readonly content: string }[];
    const loop = graph<Messages, { content: string }>('loop', (g) => {
      const ask = g.node('ask', chatModel(model) as never, { before: ((all: Messages) => all) as never });
      const act = g.node('act', toolsNode({ tools: [add] }), {
        after: ((results: ToolMessage[]) => [{ role: 'user', content: `sum ${texts(results)[0]}` }]) as never,
      });
      g.edge(g.start, ask as never);
      g.streamBranch(ask as never, { tools: act as never, end: g.end as never }, hasToolCall() as never);
      g.edge(act as never, ask as never);
    });
    const pieces: string[] = [];
    for await (const { content } of stream(loop, [{ role: 'user', content: 'sum 2 and 5' }])) pieces.push(content);
    expect(pieces.join('')).toBe('It is 7.');
    expect(pieces.length).toBeGreaterThan(1);
  });
});

describe('programs of documents', () => {
  const embedder = {
    name: 'letters',
    embed: async (words: readonly string[]) =>
      words.map((text) => ['a', 'b', 'c'].map((one) => text.split(one).length - 1 + 0.01)),
  };

  it('are split with an overlap, keep what they came from, and can be put together again', async () => {
    const split = splitByCharacters({ size: 4, overlap: 1, separators: [''] } as never);
    const parts = await invoke(componentStep(split), [knowledgeDocument({ id: 'd', text: 'abcdefghij' })]);
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.every(({ text }) => text.length <= 4)).toBe(true);
    expect(new Set(parts.map(({ id }) => id)).size).toBe(parts.length);
  });

  it('are indexed and found again, also by several wordings, each once', async () => {
    const index = memoryIndex({ embedder: embedder as never, topK: 2 });
    const ids = await index.index(['aaa', 'bbb', 'ccc'].map((text) => knowledgeDocument({ id: text, text })));
    expect(ids).toEqual(['aaa', 'bbb', 'ccc']);
    const search = multiQuery({ retriever: index.retrieve, rewrite: async () => ['bb', 'ab'] });
    const found = await invoke(componentStep(search), 'a');
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
    expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining(['aaa', 'bbb']));
  });

  it('are fused by rank, ties by id', async () => {
    const document = (id: string) => knowledgeDocument({ id, text: id });
    const lists = [
      { name: 'one', documents: [document('b'), document('a')] },
      { name: 'two', documents: [document('a'), document('b')] },
    ];
    const fused = await reciprocalRank()(lists, 'x');
    expect(fused.map(({ id }) => id)).toEqual(['a', 'b']);
  });
});
