/** Nodes of tools as their users see them. The behaviours are those of Eino's `compose/tool_node.go` and `components/tool`, and where ours differ. */
import { firstValueFrom, lastValueFrom, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  ask,
  type ChatToolCall,
  chain,
  defineState,
  defineTool,
  EngineError,
  graph,
  graphTool,
  invoke,
  type JsonObject,
  options,
  resumeFrom,
  run,
  type StepTool,
  step,
  stream,
  type ToolMiddleware,
  type ToolsNode,
  toolsNode,
  wholeReply,
} from '../../../src/index.js';
import { assistantMessage, type ToolMessage } from '../../../src/models/messages.js';

function call(id: string, name: string, args: JsonObject | string = {}): ChatToolCall {
  return { id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args) };
}

function message(...toolCalls: readonly ChatToolCall[]) {
  return assistantMessage('', { toolCalls });
}

/** Texts of the results by id of the call. */
async function texts(node: ToolsNode, ...calls: readonly ChatToolCall[]): Promise<Record<string, string>> {
  const results = await invoke(node, message(...calls));
  return Object.fromEntries(results.map(({ toolCallId, content }) => [toolCallId, content]));
}

const echo = defineTool({
  name: 'echo',
  description: 'Says it again.',
  input: z.object({ text: z.string() }),
  run: ({ text }) => text,
});

const add = defineTool({
  name: 'add',
  description: 'Adds.',
  input: z.object({ a: z.number(), b: z.number() }),
  run: async ({ a, b }) => a + b,
});

const spell = defineTool({
  name: 'spell',
  description: 'Spells.',
  input: z.object({ word: z.string() }),
  async *run({ word }) {
    yield* word;
  },
});

function settleLater<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** A tool that ends when the test says so. */
function slow(name: string) {
  const { promise, resolve } = settleLater<string>();
  const tool = defineTool({ name, description: 'Is slow.', run: () => promise });
  return { tool, resolve };
}

/** A run that waits: its questions, and how to go on. */
async function waits(running: Promise<unknown>): Promise<{
  readonly asked: Readonly<Record<string, unknown>>;
  readonly checkpoint: never;
}> {
  const error: unknown = await running.then(
    (value) => new Error(`the run gave ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  if (!EngineError.is(error) || error.code !== 'RUN_INTERRUPTED') throw error;
  const { questions, checkpoint } = error.details as {
    questions: readonly { address: string; question: unknown }[];
    checkpoint: unknown;
  };
  return {
    asked: Object.fromEntries(questions.map(({ address, question }) => [address, question])),
    // As if another process went on with it.
    checkpoint: JSON.parse(JSON.stringify(checkpoint)) as never,
  };
}

describe('a node of tools', () => {
  it('gives a message for each call, in the order of the calls, with its id and name', async () => {
    const node = toolsNode({ tools: [echo, add] });
    expect(await invoke(node, message(call('1', 'add', { a: 1, b: 2 }), call('2', 'echo', { text: 'hi' })))).toEqual([
      { role: 'tool', content: '3', toolCallId: '1', name: 'add' },
      { role: 'tool', content: 'hi', toolCallId: '2', name: 'echo' },
    ]);
  });

  it('keeps the order of the calls whichever ends first', async () => {
    const [first, second] = [slow('first'), slow('second')];
    const result = texts(toolsNode({ tools: [first.tool, second.tool] }), call('1', 'first'), call('2', 'second'));
    second.resolve('b');
    first.resolve('a');
    expect(Object.entries(await result)).toEqual([
      ['1', 'a'],
      ['2', 'b'],
    ]);
  });

  it('makes calls side by side, or one after the other with a concurrency of 1', async () => {
    const seen: string[] = [];
    const noted = defineTool({
      name: 'note',
      description: 'Notes.',
      run: async (_, { id }) => {
        seen.push(`${id} begins`);
        await Promise.resolve();
        seen.push(`${id} ends`);
      },
    });
    await texts(toolsNode({ tools: [noted] }), call('1', 'note'), call('2', 'note'));
    expect(seen.splice(0)).toEqual(['1 begins', '2 begins', '1 ends', '2 ends']);
    await texts(toolsNode({ tools: [noted], concurrency: 1 }), call('1', 'note'), call('2', 'note'));
    expect(seen).toEqual(['1 begins', '1 ends', '2 begins', '2 ends']);
  });

  it('streams pieces at the places of their calls, which joined are the whole', async () => {
    const node = toolsNode({ tools: [spell, echo] });
    const input = message(call('1', 'spell', { word: 'abc' }), call('2', 'echo', { text: 'hi' }));
    const lists: ToolMessage[][] = [];
    for await (const list of stream(node, input)) lists.push(list);
    expect(lists.length).toBeGreaterThan(1);
    expect(lists.every((list) => list.length === 2)).toBe(true);
    const joined = lists.reduce<string[]>((all, list) => list.map(({ content }, at) => (all[at] ?? '') + content), []);
    expect(joined).toEqual(['abc', 'hi']);
    expect((await invoke(node, input)).map(({ content }) => content)).toEqual(joined);
  });

  it("refuses a message without calls, and one that is not a model's", async () => {
    const node = toolsNode({ tools: [echo] });
    await expect(invoke(node, message())).rejects.toMatchObject({ code: 'INPUT_INVALID' });
    await expect(invoke(node, { role: 'user', content: 'hi' } as never)).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('"user"'),
    });
  });

  it('fails with TOOL_UNKNOWN before any call is made, and names the tools there are', async () => {
    let calls = 0;
    const counted = defineTool({
      name: 'count',
      description: 'Counts.',
      run: () => {
        calls += 1;
        return calls;
      },
    });
    const node = toolsNode({ tools: [counted, echo] });
    await expect(invoke(node, message(call('1', 'count'), call('2', 'ecko')))).rejects.toMatchObject({
      code: 'TOOL_UNKNOWN',
      message: 'There is no tool "ecko". The tools are: count, echo. Did you mean "echo"?',
    });
    expect(calls).toBe(0);
  });

  it('lets a handler answer calls of tools that are not there', async () => {
    const node = toolsNode({ unknownTool: ({ name, arguments: text }) => `no ${name} for ${text}` });
    expect(await texts(node, call('1', 'x', 'a'), call('2', 'y', 'b'))).toEqual({ 1: 'no x for a', 2: 'no y for b' });
  });

  it('repairs arguments that nearly are JSON, and takes none as an empty object', async () => {
    const now = defineTool({ name: 'now', description: 'Says when.', run: (args) => JSON.stringify(args) });
    const node = toolsNode({ tools: [echo, now] });
    expect(await texts(node, call('1', 'echo', "{text: 'hi'"), call('2', 'now', ''))).toEqual({ 1: 'hi', 2: '{}' });
    const strict = toolsNode({ tools: [echo], repair: false });
    await expect(invoke(strict, message(call('1', 'echo', "{text: 'hi'")))).rejects.toMatchObject({
      code: 'TOOL_ARGUMENTS',
    });
  });

  it('fails with every issue of arguments that do not fit, or tells the model', async () => {
    const wrong = message(call('1', 'add', { a: '1' }), call('2', 'echo', { text: 'hi' }));
    await expect(invoke(toolsNode({ tools: [add, echo] }), wrong)).rejects.toMatchObject({
      code: 'TOOL_ARGUMENTS',
      details: { tool: 'add', issues: [{ path: 'a' }, { path: 'b' }] },
    });
    const [told, fine] = await invoke(toolsNode({ tools: [add, echo], errorsAsText: true }), wrong);
    expect(told).toMatchObject({
      isError: true,
      content: expect.stringMatching(/^The arguments of add do not fit: a: .+; b: /),
    });
    expect(fine).toEqual({ role: 'tool', content: 'hi', toolCallId: '2', name: 'echo' });
  });

  it('hands the arguments through aliases, then a handler, then the middlewares to the tool', async () => {
    const seen: string[] = [];
    const node = toolsNode({
      tools: [echo],
      aliases: { echo: { names: ['say'], arguments: { text: ['message', 'words'] } } },
      prepareArguments: async ({ name, arguments: text }) => {
        seen.push(`handler ${name} ${text}`);
        return text.replace('hi', 'hello');
      },
      use: [
        (request, next) => {
          seen.push(`middleware ${request.name} ${request.arguments}`);
          return next({ ...request, arguments: request.arguments.replace('hello', 'HELLO') });
        },
      ],
    });
    expect(await texts(node, call('1', 'say', { words: 'hi' }))).toEqual({ 1: 'HELLO' });
    expect(seen).toEqual(['handler echo {"text":"hi"}', 'middleware echo {"text":"hello"}']);
  });

  it('leaves an alias alone when the argument is there under its own name', async () => {
    const all = defineTool({
      name: 'all',
      description: 'Shows.',
      input: { properties: { q: {} } },
      run: (args) => args,
    });
    const node = toolsNode({ tools: [all], aliases: { all: { arguments: { q: ['query'] } } } });
    expect(await texts(node, call('1', 'all', { query: 1, q: 2 }), call('2', 'all', { query: 1 }))).toEqual({
      1: '{"q":2,"query":1}',
      2: '{"q":1}',
    });
  });

  it.each([
    ['two tools of a name', { tools: [echo, echo] }, 'two tools are called "echo"'],
    [
      'an alias that is a tool',
      { tools: [echo, add], aliases: { echo: { names: ['add'] } } },
      'is the name of the tool "add"',
    ],
    [
      'an alias of two tools',
      { tools: [echo, add], aliases: { echo: { names: ['x'] }, add: { names: ['x'] } } },
      'is an alias of the tool "echo"',
    ],
    ['an empty alias', { tools: [echo], aliases: { echo: { names: [' '] } } }, 'texts that are not empty'],
    [
      'an alias that is an argument',
      { tools: [add], aliases: { add: { arguments: { a: ['b'] } } } },
      'an argument of the tool',
    ],
    [
      'an alias of two arguments',
      { tools: [add], aliases: { add: { arguments: { a: ['x'], b: ['x'] } } } },
      'an alias of "a"',
    ],
    ['no room for a call', { concurrency: 0 }, '"concurrency" must be a whole number of at least 1'],
    ['what is no tool', { tools: [{ name: 'x' }] as never }, 'must be a list of tools'],
  ])('refuses %s when it is made', (_, options, why) => {
    expect(() => toolsNode(options)).toThrow(why);
    expect(() => toolsNode(options)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });

  it('puts middlewares around each other, the first one outermost, and lets them answer and change results', async () => {
    const order: string[] = [];
    const noting =
      (name: string): ToolMiddleware =>
      (request, next) => {
        order.push(`${name} in`);
        return next(request).pipe(wholeReply(), (whole$) => whole$);
      };
    const loud: ToolMiddleware = async (request, next) => {
      const reply = await firstValueFrom(next(request).pipe(wholeReply()));
      return 'text' in reply ? reply.text.toUpperCase() : reply;
    };
    const short: ToolMiddleware = (request, next) => (request.arguments.includes('stop') ? 'stopped' : next(request));
    const node = toolsNode({ tools: [echo, spell], use: [noting('a'), noting('b'), loud, short] });
    expect(await texts(node, call('1', 'spell', { word: 'abc' }), call('2', 'echo', { text: 'stop' }))).toEqual({
      1: 'ABC',
      2: 'STOPPED',
    });
    expect(order).toEqual(['a in', 'b in', 'a in', 'b in']);
  });

  it('makes text of errors as a function says, and fails where it says nothing', async () => {
    const broken = defineTool({
      name: 'broken',
      description: 'Breaks.',
      run: (_, { id }) => {
        throw new Error(`no ${id}`);
      },
    });
    const node = toolsNode({
      tools: [broken],
      errorsAsText: ({ code, message: why }, { id }) => (id === '1' ? `${code}: ${why}` : undefined),
    });
    expect(await texts(node, call('1', 'broken'))).toEqual({ 1: 'TOOL_FAILED: no 1' });
    await expect(invoke(node, message(call('2', 'broken')))).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: 'Tool "broken" (call 2) failed: no 2',
    });
  });

  it('stops the other calls when one fails', async () => {
    const stopped: unknown[] = [];
    const waiting = defineTool({
      name: 'wait',
      description: 'Waits.',
      run: (_, { signal }) =>
        new Promise<string>((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            stopped.push(signal.reason);
            reject(signal.reason);
          });
        }),
    });
    const node = toolsNode({ tools: [waiting, add] });
    await expect(invoke(node, message(call('1', 'wait'), call('2', 'add', {})))).rejects.toMatchObject({
      code: 'TOOL_ARGUMENTS',
    });
    expect(stopped).toHaveLength(1);
  });

  it('gives parts of results to the model beside their text', async () => {
    const picture = defineTool({
      name: 'picture',
      description: 'Draws.',
      run: () => of('first', 'then', 'last'),
      output: (piece) => (piece === 'then' ? [{ type: 'image', url: 'https://x.test/1.png' }] : piece),
    });
    const node = toolsNode({ tools: [picture] });
    const [whole] = await invoke(node, message(call('1', 'picture')));
    expect(whole).toMatchObject({
      content: 'firstlast',
      parts: [
        { type: 'text', text: 'first' },
        { type: 'image', url: 'https://x.test/1.png' },
        { type: 'text', text: 'last' },
      ],
    });
  });

  it('refuses a result that is longer than it may be', async () => {
    const node = toolsNode({ tools: [spell], maxResultLength: 3 });
    await expect(invoke(node, message(call('1', 'spell', { word: 'abcd' })))).rejects.toMatchObject({
      code: 'LIMIT_REACHED',
    });
    expect(await texts(node, call('1', 'spell', { word: 'abc' }))).toEqual({ 1: 'abc' });
  });

  it('tells calls apart whose ids are equal or missing', async () => {
    const which = defineTool({
      name: 'which',
      description: 'Says which.',
      run: (_, { id, key }) => `${id} ${key.split('#')[1]}`,
    });
    const results = await invoke(
      toolsNode({ tools: [which] }),
      message(call('x', 'which'), call('x', 'which'), call('', 'which')),
    );
    expect(results.map(({ toolCallId, content }) => [toolCallId, content])).toEqual([
      ['x', 'x x'],
      ['x', 'x_2 x_2'],
      ['', 'call_2 call_2'],
    ]);
  });
});

describe('a node of tools in one run', () => {
  it('has the tools and aliases that the run gives it, in place of its own', async () => {
    const node = toolsNode({ tools: [add] });
    const given = { with: [options(node, { tools: [echo], aliases: { echo: { names: ['say'] } } })] };
    const [said] = await invoke(node, message(call('1', 'say', { text: 'hi' })), given);
    expect(said?.content).toBe('hi');
    await expect(invoke(node, message(call('1', 'add', { a: 1, b: 2 })), given)).rejects.toMatchObject({
      code: 'TOOL_UNKNOWN',
    });
    expect(await texts(node, call('1', 'add', { a: 1, b: 2 }))).toEqual({ 1: '3' });
  });

  it('hands options of the run to its tools, and refuses options that it does not have', async () => {
    const greet = defineTool({
      name: 'greet',
      description: 'Greets.',
      run: (_, at) => `${at.options.greeting}, ${at.name}`,
    });
    const node = toolsNode({ tools: [greet] });
    const [said] = await invoke(node, message(call('1', 'greet')), {
      with: [options(node, { toolOptions: { greeting: 'Hello' } })],
    });
    expect(said?.content).toBe('Hello, greet');
    const wrong = options(node, { tool: [greet] } as never);
    await expect(invoke(node, message(call('1', 'greet')), { with: [wrong] })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      message: expect.stringContaining('there is no call option "tool"'),
    });
  });

  it('lets tools change the state of the graph around, and say something of their own', async () => {
    const Notes = defineState('notes', () => ({ lines: [] as readonly string[] }));
    const note = defineTool({
      name: 'note',
      description: 'Notes.',
      input: z.object({ line: z.string() }),
      run: ({ line }, { state, emit }) => {
        emit('noted', { line });
        return `${state(Notes).append('lines', line).lines.length} lines`;
      },
    });
    const noting = graph<ReturnType<typeof message>, readonly string[]>(
      'noting',
      (g) => {
        const tools = g.node('tools', toolsNode({ tools: [note], concurrency: 1 }));
        const read = g.node('read', (_: readonly ToolMessage[], at) => at.state(Notes).value.lines);
        g.edge(g.start, tools);
        g.edge(tools, read);
        g.edge(read, g.end);
      },
      { state: Notes },
    );
    const input = message(call('1', 'note', { line: 'a' }), call('2', 'note', { line: 'b' }));
    const events = await lastValueFrom(run(noting, { input }).pipe(toArray()));
    expect(events.flatMap((event) => (event.type === 'node-notice' ? [[event.name, event.data]] : []))).toEqual([
      ['noted', { line: 'a' }],
      ['noted', { line: 'b' }],
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'run-settled', value: ['a', 'b'] });
  });
});

describe('a tool that asks', () => {
  const send = defineTool({
    name: 'send',
    description: 'Sends.',
    input: z.object({ to: z.string() }),
    answer: z.boolean(),
    run: ({ to }, { answer, memo, interrupt }) => {
      if (answer === undefined) return interrupt(`Send to ${to}?`, { memo: { to } });
      return `${answer ? 'sent' : 'not sent'} to ${(memo as { to: string }).to}`;
    },
  });

  function counted(tool: StepTool) {
    const count = { calls: 0 };
    const counting: StepTool = {
      ...tool,
      call(args, at) {
        count.calls += 1;
        return tool.call(args, at);
      },
    };
    return { tool: counting, count };
  }

  it('makes the run wait at the call, keeps what other calls gave, and goes on with the answer', async () => {
    const others = counted(echo);
    const node = toolsNode({ tools: [send, others.tool] });
    const { asked, checkpoint } = await waits(
      invoke(node, message(call('c1', 'send', { to: 'Ann' }), call('c2', 'echo', { text: 'hi' }))),
    );
    expect(asked).toEqual({ 'tools#c1': 'Send to Ann?' });
    const results = await invoke(node, resumeFrom(checkpoint, { 'tools#c1': true }));
    expect(results.map(({ content }) => content)).toEqual(['sent to Ann', 'hi']);
    expect(others.count.calls).toBe(1);
  });

  it.each([
    ['first one first', ['c1', 'c2']],
    ['last one first', ['c2', 'c1']],
  ])('asks for several calls at once, which are answered one by one, the %s', async (_, order) => {
    const sends = counted(send);
    const node = toolsNode({ tools: [sends.tool] });
    const first = await waits(
      invoke(node, message(call('c1', 'send', { to: 'Ann' }), call('c2', 'send', { to: 'Bob' }))),
    );
    expect(Object.keys(first.asked)).toEqual(['tools#c1', 'tools#c2']);
    const [now, later] = order as [string, string];
    const second = await waits(invoke(node, resumeFrom(first.checkpoint, { [`tools#${now}`]: true })));
    expect(second.asked).toEqual({ [`tools#${later}`]: first.asked[`tools#${later}`] });
    const results = await invoke(node, resumeFrom(second.checkpoint, { [`tools#${later}`]: false }));
    const texts = { [now]: 'sent', [later]: 'not sent' };
    expect(results.map(({ content }) => content)).toEqual([`${texts.c1} to Ann`, `${texts.c2} to Bob`]);
    // Each was called to ask, and once more with its answer: the open question was not asked by calling again.
    expect(sends.count.calls).toBe(4);
  });

  it('checks answers by the schema of the tool, also of a question that has waited since an earlier resume', async () => {
    const node = toolsNode({ tools: [send] });
    const first = await waits(invoke(node, message(call('c1', 'send', { to: 'A' }), call('c2', 'send', { to: 'B' }))));
    const second = await waits(invoke(node, resumeFrom(first.checkpoint, { 'tools#c1': true })));
    await expect(invoke(node, resumeFrom(second.checkpoint, { 'tools#c2': 'yes' }))).rejects.toMatchObject({
      code: 'ANSWER_INVALID',
    });
  });

  it('asks again when the run goes on without answers', async () => {
    const sends = counted(send);
    const node = toolsNode({ tools: [sends.tool] });
    const { checkpoint } = await waits(invoke(node, message(call('c1', 'send', { to: 'Ann' }))));
    const { asked } = await waits(invoke(node, resumeFrom(checkpoint)));
    expect(asked).toEqual({ 'tools#c1': 'Send to Ann?' });
    expect(sends.count.calls).toBe(2);
  });

  it('takes the fallback of a question that expired, and lets its time go on while others are answered', async () => {
    let now = 1_000;
    const patient = defineTool({
      name: 'patient',
      description: 'Waits for a while.',
      run: (_, { answer, interrupt }) => answer ?? interrupt('Well?', { expiresInMs: 100, fallback: 'never mind' }),
    });
    const node = toolsNode({ tools: [patient, send] });
    const options = { now: () => now };
    const first = await waits(
      invoke(
        node,
        message(call('c1', 'patient'), call('c2', 'send', { to: 'Ann' }), call('c3', 'send', { to: 'Bob' })),
        options,
      ),
    );
    now += 60;
    const second = await waits(invoke(node, resumeFrom(first.checkpoint, { 'tools#c2': true }), options));
    now += 60;
    const results = await invoke(node, resumeFrom(second.checkpoint, { 'tools#c3': true }), options);
    expect(results.map(({ content }) => content)).toEqual(['never mind', 'sent to Ann', 'sent to Bob']);
  });

  it('does not count as a failure where errors are text', async () => {
    const node = toolsNode({ tools: [send], errorsAsText: true });
    const { asked } = await waits(invoke(node, message(call('c1', 'send', { to: 'Ann' }))));
    expect(asked).toEqual({ 'tools#c1': 'Send to Ann?' });
  });

  it('may be asked about by a middleware first, whose answer holds while the tool asks, too', async () => {
    const allow: ToolMiddleware = function allow(request, next) {
      if (request.at.answer === undefined) return request.at.interrupt(`Allow ${request.name}?`);
      return request.at.answer === 'yes' ? next(request) : 'declined';
    };
    const node = toolsNode({ tools: [send, echo], use: [allow] });
    const first = await waits(
      invoke(node, message(call('c1', 'send', { to: 'Ann' }), call('c2', 'echo', { text: 'hi' }))),
    );
    expect(first.asked).toEqual({ 'tools#c1/allow': 'Allow send?', 'tools#c2/allow': 'Allow echo?' });
    const second = await waits(
      invoke(node, resumeFrom(first.checkpoint, { 'tools#c1/allow': 'yes', 'tools#c2/allow': 'no' })),
    );
    expect(second.asked).toEqual({ 'tools#c1': 'Send to Ann?' });
    const results = await invoke(node, resumeFrom(second.checkpoint, { 'tools#c1': true }));
    expect(results.map(({ content }) => content)).toEqual(['sent to Ann', 'declined']);
  });
});

describe('a step as a tool', () => {
  const review = chain(
    (args: { readonly text: string }) => args.text,
    ask(z.string(), (text: string) => `What of ${text}?`),
    (verdict) => ({ verdict }),
  );
  const INPUT = z.object({ text: z.string() });

  it('takes its arguments as its input and gives its result as text', async () => {
    const shout = step('shout', (args: { readonly text: string }) => args.text.toUpperCase(), { input: INPUT });
    const answerOf = graphTool((args: { readonly text: string }) => assistantMessage(`about ${args.text}`), {
      name: 'answer',
      description: 'Answers.',
      input: INPUT,
    });
    const node = toolsNode({ tools: [graphTool(shout, { description: 'Shouts.' }), answerOf] });
    expect(await texts(node, call('1', 'shout', { text: 'a' }), call('2', 'answer', { text: 'b' }))).toEqual({
      1: 'A',
      2: 'about b',
    });
    await expect(invoke(node, message(call('1', 'shout', {})))).rejects.toMatchObject({ code: 'TOOL_ARGUMENTS' });
  });

  it('passes its questions up under the call, and goes on where it stood', async () => {
    const tool = graphTool(review, { name: 'review', description: 'Reviews.', input: INPUT });
    const node = toolsNode({ tools: [tool, echo] });
    const first = await waits(
      invoke(
        node,
        message(
          call('c1', 'review', { text: 'A' }),
          call('c2', 'echo', { text: 'hi' }),
          call('c3', 'review', { text: 'B' }),
        ),
      ),
    );
    expect(first.asked).toEqual({ 'tools#c1/review/ask': 'What of A?', 'tools#c3/review/ask': 'What of B?' });
    const second = await waits(invoke(node, resumeFrom(first.checkpoint, { 'tools#c3/review/ask': 'good' })));
    expect(second.asked).toEqual({ 'tools#c1/review/ask': 'What of A?' });
    const results = await invoke(node, resumeFrom(second.checkpoint, { 'tools#c1/review/ask': 'bad' }));
    expect(results.map(({ content }) => content)).toEqual(['{"verdict":"bad"}', 'hi', '{"verdict":"good"}']);
  });

  it('may be one of several that the function of a tool runs; what was done is not done again', async () => {
    let prepared = 0;
    const prepare = step('prepare', () => {
      prepared += 1;
      return 1;
    });
    const sum = defineTool({
      name: 'sum',
      description: 'Sums what people say.',
      run: async (_, at) => {
        const own = await invoke(prepare, undefined, { within: at });
        const asked = ['left', 'right'].map((side) =>
          invoke(step(side, ask(z.number(), side)), undefined, { within: at }),
        );
        const [left = 0, right = 0] = await Promise.all(asked);
        return own + left + right;
      },
    });
    const node = toolsNode({ tools: [sum] });
    const first = await waits(invoke(node, message(call('c1', 'sum'))));
    expect(first.asked).toEqual({ 'tools#c1/left/left': 'left', 'tools#c1/right/right': 'right' });
    const second = await waits(invoke(node, resumeFrom(first.checkpoint, { 'tools#c1/right/right': 20 })));
    const results = await invoke(node, resumeFrom(second.checkpoint, { 'tools#c1/left/left': 10 }));
    expect(results.map(({ content }) => content)).toEqual(['31']);
    expect(prepared).toBe(1);
  });

  it('is not run again when the tool asks a question of its own behind it', async () => {
    let prepared = 0;
    const prepare = step('prepare', () => {
      prepared += 1;
      return 'a plan';
    });
    const plan = defineTool({
      name: 'plan',
      description: 'Plans.',
      run: async (_, at) => {
        const made = await invoke(prepare, undefined, { within: at });
        return at.answer === undefined
          ? at.interrupt(`Is ${made} good?`, { memo: 7 })
          : `${made}: ${at.answer} ${at.memo}`;
      },
    });
    const node = toolsNode({ tools: [plan] });
    const { asked, checkpoint } = await waits(invoke(node, message(call('c1', 'plan'))));
    expect(asked).toEqual({ 'tools#c1': 'Is a plan good?' });
    const [result] = await invoke(node, resumeFrom(checkpoint, { 'tools#c1': 'yes' }));
    expect(result?.content).toBe('a plan: yes 7');
    expect(prepared).toBe(1);
  });

  it('ends with the call', async () => {
    let signal: AbortSignal | undefined;
    const { promise: begun, resolve } = settleLater<void>();
    const stuck = step('stuck', (_: unknown, at) => {
      signal = at.signal;
      resolve();
      return new Promise<string>(() => {});
    });
    const node = toolsNode({ tools: [graphTool(stuck, { description: 'Never ends.' })] });
    const subscription = stream(node, message(call('1', 'stuck')))
      .pipe(toArray())
      .subscribe();
    await begun;
    expect(signal?.aborted).toBe(false);
    subscription.unsubscribe();
    expect(signal?.aborted).toBe(true);
  });
});
