import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agent } from '../../src/entries/agents.js';
import type { Unstamped } from '../../src/graph/events.js';
import {
  ask,
  type ChatMessage,
  chain,
  chatModel,
  createScriptedModel,
  defineState,
  defineTool,
  fromUiMessages,
  generator,
  graph,
  hasToolCall,
  parallel,
  type RunEvent,
  resumeFrom,
  run,
  type StepLike,
  toolsNode,
  type UiMessage,
  userMessage,
} from '../../src/index.js';
import { generatedEvents, randomOf } from '../canvas/picture/generated-events.js';
import { chunksOf, plainParts, readChunks, textsOf } from './support/read-chunks.js';

type Input = Parameters<typeof run>[1];

async function eventsOf<I, O>(step: StepLike<I, O>, input: I | ReturnType<typeof resumeFrom>): Promise<RunEvent[]> {
  return lastValueFrom(run(step, { input } as Input as never).pipe(toArray()));
}

/** A run and what it left, to go on from. */
async function waiting<I, O>(step: StepLike<I, O>, input: I | ReturnType<typeof resumeFrom>) {
  let saved: unknown;
  const checkpoints = {
    save: async (checkpoint: unknown) => {
      saved = JSON.parse(JSON.stringify(checkpoint));
    },
    load: async () => undefined,
    delete: async () => {},
  };
  const events = await lastValueFrom(run(step, { input } as never, { checkpoints } as never).pipe(toArray()));
  return { events: events as RunEvent[], checkpoint: saved as Parameters<typeof resumeFrom>[0] };
}

/** Events of one run with their numbers. */
function stamped(...events: readonly Unstamped[]): readonly RunEvent[] {
  return events.map((event, index) => ({ run: 'r', seq: index + 1, at: index, ...event }) as RunEvent);
}

const started: Unstamped = { type: 'run-started', input: {}, resumed: false };
const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3, calls: 1 };
const settled: Unstamped = { type: 'run-settled', outputs: null, elapsedMs: 5, input: {}, usage };
const node = (name: string, token = 1) => ({ node: name, token });
const said = (name: string, text: string, token = 1, port = 'content'): Unstamped => ({
  type: 'node-delta',
  ...node(name, token),
  port,
  text,
});

const weather = defineTool({
  name: 'weather',
  description: 'Tells the weather.',
  input: z.object({ city: z.string() }),
  run: ({ city }) => `Rain in ${city}.`,
});

const Conversation = defineState('conversation', () => ({ messages: [] as ChatMessage[] }));

function reactOf(tools: Parameters<typeof toolsNode>[0]) {
  const model = createScriptedModel({
    rules: [
      { when: { user: 'Oslo' }, times: 1, tool_calls: [{ name: 'weather', arguments: { city: 'Oslo' } }] },
      { when: { user: 'Oslo' }, reply_stream: ['<think>Rain', ' it is.</think>', 'Take ', 'a coat.'] },
    ],
    default: { reply_stream: ['<think>Rain', ' it is.</think>', 'Take ', 'a coat.'] },
  });
  return graph<ChatMessage[], unknown>(
    'react',
    (g) => {
      const think = g.node('model', chatModel(model, { tools: [weather] }), {
        before: (input: ChatMessage[], at) => at.state(Conversation).append('messages', ...input).messages,
      });
      const act = g.node('tools', toolsNode(tools), {
        before: (answer, at) => {
          at.state(Conversation).append('messages', answer);
          return answer;
        },
      });
      g.edge(g.start, think);
      g.streamBranch(think, { tools: act, end: g.end }, hasToolCall());
      g.edge(act, think);
    },
    { state: Conversation },
  );
}

describe('toUiMessages', () => {
  it('gives a message with the calls, results, thoughts and texts of a loop of a model and tools, in steps', async () => {
    const chunks = chunksOf(await eventsOf(reactOf({ tools: [weather] }), [userMessage('Oslo?')]));
    const message = await readChunks(chunks);
    expect(plainParts(message)).toEqual([
      { type: 'step-start' },
      {
        type: 'tool-weather',
        toolCallId: 'call_0',
        state: 'output-available',
        input: { city: 'Oslo' },
        output: 'Rain in Oslo.',
        providerExecuted: true,
      },
      { type: 'step-start' },
      { type: 'reasoning', id: expect.any(String), text: 'Rain it is.', state: 'done' },
      { type: 'text', text: 'Take a coat.', state: 'done' },
    ]);
    expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' });
    expect(message.metadata).toMatchObject({ run: message.id, usage: { calls: 2 } });
  });

  it('keeps the texts of nodes that speak side by side apart', async () => {
    const words = ['a ', 'b ', 'c '].flatMap((word, at) => [said('A', word, 1), said('B', `${at} `, 2)]);
    const message = await readChunks(chunksOf(stamped(started, ...words, settled)));
    expect(textsOf(message)).toEqual(['a b c ', '0 1 2 ']);
    const nodes = message.parts.flatMap((part) => (part.type === 'text' ? [part.providerMetadata?.runnel?.node] : []));
    expect(nodes).toEqual(['A', 'B']);
  });

  it('gives a result that is no text as data', async () => {
    const both = parallel({ left: (text: string) => text, right: (text: string) => text.length });
    const message = await readChunks(chunksOf(await eventsOf(both, 'ab')));
    expect(message.parts).toEqual([{ type: 'data-result', data: { left: 'ab', right: 2 } }]);
  });

  it('says the result of steps that do not stream, and no result twice', async () => {
    const whole = chain(
      (name: string) => `Hello ${name}`,
      (text) => text.toUpperCase(),
    );
    expect(textsOf(await readChunks(chunksOf(await eventsOf(whole, 'Ada'))))).toEqual(['HELLO ADA']);
    const streamed = generator(async function* () {
      yield 'Hel';
      yield 'lo';
    });
    expect(textsOf(await readChunks(chunksOf(await eventsOf(streamed as never, 'x' as never))))).toEqual(['Hello']);
  });

  it('names the text of a node that is tried again, and of one whose process was lost', async () => {
    const chunks = chunksOf(
      stamped(
        started,
        { type: 'node-started', ...node('A', 1), attempt: 1 },
        { type: 'node-started', ...node('B', 2), attempt: 1 },
        said('A', 'wrong', 1),
        said('B', 'kept', 2),
        {
          type: 'node-failed',
          ...node('A', 1),
          error: { code: 'NODE_FAILED', message: 'x' },
          outputs: {},
          elapsedMs: 1,
          // biome-ignore lint/suspicious/noThenProperty: a field of the event
          then: 'retry',
        },
        { type: 'node-started', ...node('A', 1), attempt: 2 },
        said('A', 'right', 1),
        { type: 'node-settled', ...node('A', 1), outputs: {}, elapsedMs: 1 },
        { type: 'run-started', input: {}, resumed: true, recovered: true },
        { type: 'node-started', ...node('B', 9), attempt: 1, retractFrom: 3 },
        said('B', 'again', 9),
        settled,
      ),
    );
    const message = await readChunks(chunks);
    expect(textsOf(message)).toEqual(['wrong', 'kept', 'right', 'again']);
    const { history, messages } = fromUiMessages([message as UiMessage]);
    expect(history).toEqual([{ role: 'assistant', content: 'right\nagain' }]);
    expect(messages).toEqual([{ role: 'assistant', content: 'right\nagain' }]);
  });

  it.each<[string, Unstamped, object]>([
    [
      'a failure',
      { type: 'run-failed', error: { code: 'NODE_FAILED', message: 'no' }, elapsedMs: 1, input: {}, usage },
      { type: 'finish', finishReason: 'error' },
    ],
    ['a cancel', { type: 'run-cancelled', elapsedMs: 1, input: {}, usage }, { type: 'abort' }],
  ])('ends open parts with %s', async (_, end, last) => {
    const chunks = chunksOf(
      stamped(
        started,
        { type: 'node-call', ...node('A'), call: { type: 'started', id: '1', kind: 'tool', name: 'search' } },
        said('A', 'half'),
        end,
      ),
    );
    expect(chunks.at(-1)).toMatchObject(last);
    const { parts } = await readChunks(chunks);
    expect(parts).toContainEqual(expect.objectContaining({ type: 'text', text: 'half', state: 'done' }));
    expect(parts).toContainEqual(
      expect.objectContaining({ type: 'tool-search', state: 'output-error', errorText: 'The call was stopped.' }),
    );
  });

  it('hides the message of an error that is not for clients', () => {
    const error = { code: 'INTERNAL', message: 'secret' } as const;
    const chunks = chunksOf(stamped(started, { type: 'run-failed', error, elapsedMs: 1, input: {}, usage }));
    expect(JSON.stringify(chunks)).not.toContain('secret');
  });

  it('gives sources, files and what nodes say of their own', async () => {
    const notice = (name: string, data: object): Unstamped =>
      ({ type: 'node-notice', ...node('M'), name, data }) as Unstamped;
    const chunks = chunksOf(
      stamped(
        started,
        said('M', 'See [ID:0].'),
        notice('message-ended', {
          reference: {
            chunks: {
              0: { document_name: 'guide.pdf', content: 'x' },
              1: { document_name: 'page', url: 'https://example.org/a' },
            },
          },
          downloads: [{ url: '/files/1', name: 'report.xlsx', mime_type: 'application/x' }],
        }),
        notice('input-accepted', { id: 'i1', text: 'wait' }),
        notice('input-delivered', { id: 'i1', round: 2 }),
        notice('tool-progress', { message: '10%' }),
        settled,
      ),
    );
    expect(plainParts(await readChunks(chunks)).slice(1)).toEqual([
      { type: 'text', text: 'See [ID:0].', state: 'done' },
      { type: 'source-document', sourceId: '0', mediaType: 'text/plain', title: 'guide.pdf', filename: 'guide.pdf' },
      { type: 'source-url', sourceId: '1', url: 'https://example.org/a', title: 'page' },
      { type: 'file', url: '/files/1', mediaType: 'application/x' },
      { type: 'data-input-accepted', id: 'i1', data: { id: 'i1', text: 'wait' } },
      { type: 'data-input-delivered', id: 'i1', data: { id: 'i1', round: 2 } },
    ]);
    expect(chunks).toContainEqual({ type: 'data-tool-progress', data: { message: '10%' }, transient: true });
  });

  it('keeps calls apart whose ids repeat', async () => {
    const call = (name: string, token: number): Unstamped[] => [
      {
        type: 'node-call',
        ...node(name, token),
        call: {
          type: 'started',
          id: 'x',
          kind: 'tool',
          name: 'search',
          attributes: { 'gen_ai.tool.call.id': 'call_0' },
        },
      },
      { type: 'node-call', ...node(name, token), call: { type: 'finished', id: 'x' } },
      {
        type: 'node-notice',
        ...node(name, token),
        name: 'tool-called',
        data: { tool_name: 'search', arguments: { q: token }, result: `r${token}` },
      },
    ];
    const message = await readChunks(chunksOf(stamped(started, ...call('A', 1), ...call('B', 2), settled)));
    const calls = message.parts.filter(({ type }) => type === 'tool-search');
    expect(calls).toMatchObject([
      { toolCallId: 'call_0', input: { q: 1 }, output: 'r1' },
      { toolCallId: 'call_0~1', input: { q: 2 }, output: 'r2' },
    ]);
  });

  it('is read whatever happens in a run', async () => {
    const seed = 20_261_124;
    const events = [...generatedEvents(3_000, randomOf(seed))];
    const message = await readChunks(chunksOf(events));
    expect(message.parts.length, `seed ${seed}`).toBeGreaterThan(10);
    const open = message.parts.filter((part) => 'state' in part && part.state === 'streaming');
    expect(open, `seed ${seed}`).toEqual([]);
  });
});

describe('questions', () => {
  /** As `addToolApprovalResponse` and `addToolOutput` change a message. */
  const answered = (message: unknown, change: (part: Record<string, unknown>) => object | undefined): UiMessage => {
    const { parts, ...rest } = JSON.parse(JSON.stringify(message)) as UiMessage;
    return { ...rest, parts: parts.map((part) => ({ ...part, ...change(part) })) };
  };

  it('are approvals and calls of a tool, and their answers come back by address', async () => {
    const trip = chain(
      parallel({
        sure: ask(z.boolean(), 'Sure?'),
        why: ask(z.object({ approved: z.boolean(), reason: z.string().optional() }), 'Really?'),
        seat: ask(z.object({ row: z.number() }), 'Which row?'),
      }),
      ({ sure, why, seat }) => `${sure} ${why.approved} ${why.reason} ${seat.row}`,
    );
    const { events, checkpoint } = await waiting(trip, 'x' as never);
    const asked = await readChunks(chunksOf(events));
    expect(asked.parts.slice(1)).toMatchObject([
      { type: 'tool-ask', state: 'approval-requested', input: { address: 'parallel/sure', question: 'Sure?' } },
      { type: 'tool-ask', state: 'approval-requested', input: { address: 'parallel/why' } },
      { type: 'tool-ask', state: 'input-available', input: { address: 'parallel/seat', question: 'Which row?' } },
    ]);
    const sent = answered(asked, ({ approval, input }) => {
      const { id } = (approval ?? {}) as { id?: string };
      if (id === undefined) return input === undefined ? undefined : { state: 'output-available', output: { row: 7 } };
      const isFirst = id.endsWith('sure');
      return {
        state: 'approval-responded',
        approval: isFirst ? { id, approved: true } : { id, approved: false, reason: 'rain' },
      };
    });
    const request = fromUiMessages([{ role: 'user', parts: [{ type: 'text', text: 'Go' }] }, sent]);
    expect(request).toMatchObject({
      query: '',
      run: events[0]?.run,
      answers: {
        'parallel/sure': true,
        'parallel/why': { approved: false, reason: 'rain' },
        'parallel/seat': { row: 7 },
      },
      message: { id: asked.id },
    });
    const rest = await eventsOf(trip, resumeFrom(checkpoint, request.answers));
    const message = await readChunks(chunksOf(rest, { message: sent }), sent);
    expect(message.id).toBe(asked.id);
    expect(message.parts.slice(1)).toMatchObject([
      { type: 'tool-ask', state: 'output-available', output: true },
      { type: 'tool-ask', state: 'output-denied' },
      { type: 'tool-ask', state: 'output-available', output: { row: 7 } },
      { type: 'step-start' },
      { type: 'text', text: 'true false rain 7' },
    ]);
  });

  it('about a call are approvals of that call, which then goes on in its own part', async () => {
    const careful = defineTool({
      name: 'weather',
      description: 'Tells the weather.',
      input: z.object({ city: z.string() }),
      answer: z.boolean(),
      run: ({ city }, call) => {
        if (call.answer === undefined) return call.interrupt({ city });
        return call.answer ? `Rain in ${city}.` : 'Not allowed.';
      },
    });
    const react = reactOf({ tools: [careful] });
    const { events, checkpoint } = await waiting(react, [userMessage('Oslo?')]);
    const asked = await readChunks(chunksOf(events));
    expect(asked.parts).toMatchObject([
      { type: 'step-start' },
      { type: 'tool-weather', toolCallId: 'call_0', state: 'approval-requested', input: { city: 'Oslo' } },
    ]);
    const sent = answered(asked, ({ approval }) => {
      if (approval === undefined) return undefined;
      return { state: 'approval-responded', approval: { ...(approval as object), approved: true } };
    });
    const { answers } = fromUiMessages([sent]);
    expect(answers).toEqual({ 'tools#call_0': true });
    const rest = await eventsOf(react, resumeFrom(checkpoint, answers));
    const message = await readChunks(chunksOf(rest, { message: sent }), sent);
    expect(message.parts.filter(({ type }) => type === 'tool-weather')).toMatchObject([
      { toolCallId: 'call_0', state: 'output-available', output: 'Rain in Oslo.' },
    ]);
    expect(textsOf(message)).toEqual(['Take a coat.']);
  });
});

describe('an agent of code', () => {
  it('shows what its tools gave', async () => {
    const echo = defineTool({ name: 'echo', description: 'Says it.', run: () => 'said' });
    const model = createScriptedModel({
      rules: [{ when: {}, tool_calls: [{ name: 'echo' }], times: 1 }],
      default: { reply: 'Done.' },
    });
    const events = await lastValueFrom(
      run(agent({ name: 'guide', model, tools: [echo] }), { input: 'Go.' }).pipe(toArray()),
    );
    const { parts } = await readChunks(chunksOf(events));
    expect(parts).toContainEqual(
      expect.objectContaining({ type: 'tool-echo', state: 'output-available', output: 'said' }),
    );
  });
});
