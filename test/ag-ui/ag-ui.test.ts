/** AG-UI: every event is one that the published schema takes, in an order that its clients take. */
import { EventSchemas, RunAgentInputSchema } from '@ag-ui/core/schemas';
import { lastValueFrom, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AgUiProjection } from '../../src/ag-ui/to-ag-ui.js';
import { type AgUiEvent, agent, approve, fromAgUi, toAgUi } from '../../src/entries/agents.js';
import type { RunEvent } from '../../src/graph/events.js';
import { ask, chain, invoke, resumeFrom, run, step } from '../../src/index.js';
import { echo, replies, say } from '../agents/loop/support.js';
import { readCases } from '../conformance/case.js';
import { playCase } from '../conformance/play.js';

/** What the published client refuses: parts that end without having begun, or are open at the end. */
function requireOrder(events: readonly AgUiEvent[]): void {
  const open = new Set<string>();
  const begin = (key: string): void => {
    if (open.has(key)) throw new Error(`${key} begins twice`);
    open.add(key);
  };
  const within = (key: string): void => {
    if (!open.has(key)) throw new Error(`${key} is not open`);
  };
  const end = (key: string): void => {
    within(key);
    open.delete(key);
  };
  for (const [at, event] of events.entries()) {
    if ((at === 0) !== (event.type === 'RUN_STARTED')) throw new Error(`${event.type} at ${at}`);
    const isEnd = event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR';
    if (isEnd !== (at === events.length - 1)) throw new Error(`${event.type} at ${at} of ${events.length}`);
    if (event.type === 'STEP_STARTED') begin(`step ${event.stepName}`);
    if (event.type === 'STEP_FINISHED') end(`step ${event.stepName}`);
    if (event.type === 'TEXT_MESSAGE_START') begin(`text ${event.messageId}`);
    if (event.type === 'TEXT_MESSAGE_CONTENT') within(`text ${event.messageId}`);
    if (event.type === 'TEXT_MESSAGE_END') end(`text ${event.messageId}`);
    if (event.type === 'REASONING_START') begin(`thought ${event.messageId}`);
    if (event.type === 'REASONING_MESSAGE_CONTENT') within(`thought ${event.messageId}`);
    if (event.type === 'REASONING_END') end(`thought ${event.messageId}`);
    if (event.type === 'TOOL_CALL_START') begin(`call ${event.toolCallId}`);
    if (event.type === 'TOOL_CALL_ARGS') within(`call ${event.toolCallId}`);
    if (event.type === 'TOOL_CALL_END') end(`call ${event.toolCallId}`);
    if (event.type === 'RUN_FINISHED' && open.size > 0) throw new Error(`open at the end: ${[...open]}`);
  }
}

/** Through JSON, checked by the published schema. */
function checked(events: readonly AgUiEvent[]): readonly AgUiEvent[] {
  for (const event of JSON.parse(JSON.stringify(events)) as unknown[]) {
    const read = EventSchemas.safeParse(event);
    if (!read.success) throw new Error(`The schema refuses ${JSON.stringify(event)}`, { cause: read.error });
  }
  requireOrder(events);
  return events;
}

const told = async (events$: ReturnType<typeof run>, options = {}) =>
  checked(await lastValueFrom(events$.pipe(toAgUi(options), toArray())));

describe('toAgUi', () => {
  it('gives text in pieces, between the beginning and the end of the run', async () => {
    const words = step('words', (_: string) => of('Hello ', 'Ada.'));
    expect(await told(run(words, { input: 'x' }), { threadId: 't', runId: 'r' })).toMatchObject([
      { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
      { type: 'STEP_STARTED' },
      { type: 'TEXT_MESSAGE_START', role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', delta: 'Hello ' },
      { type: 'TEXT_MESSAGE_CONTENT', delta: 'Ada.' },
      { type: 'TEXT_MESSAGE_END' },
      { type: 'STEP_FINISHED' },
      { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'success' }, result: 'Hello Ada.' },
    ]);
  });

  it('gives calls of tools with arguments and results', async () => {
    const guide = agent({ name: 'guide', model: replies({ calls: [say('a')] }, 'Done.'), tools: [echo()] });
    const events = await told(run(guide, { input: 'Go.' }));
    expect(events.filter(({ type }) => type.startsWith('TOOL'))).toMatchObject([
      { type: 'TOOL_CALL_START', toolCallName: 'echo' },
      { type: 'TOOL_CALL_ARGS', delta: '{"text":"a"}' },
      { type: 'TOOL_CALL_END' },
      { type: 'TOOL_CALL_RESULT', content: 'echo a' },
    ]);
  });

  it('gives questions as interrupts, whose answers go on', async () => {
    const made = () =>
      chain(
        ask(z.boolean(), () => 'Really?'),
        (isSure) => (isSure ? 'ordered' : 'dropped'),
      );
    let checkpoint: unknown;
    await invoke(made(), 'x').catch((error: { details: { checkpoint: unknown } }) => {
      checkpoint = error.details.checkpoint;
    });
    const last = (await told(run(made(), { input: 'x' }))).at(-1);
    expect(last).toMatchObject({
      type: 'RUN_FINISHED',
      outcome: {
        type: 'interrupt',
        interrupts: [{ reason: 'approval_required', message: 'Really?', responseSchema: { type: 'boolean' } }],
      },
    });
    const [question] =
      last?.type === 'RUN_FINISHED' && last.outcome.type === 'interrupt' ? last.outcome.interrupts : [];
    const sent = {
      threadId: 't',
      runId: 'r',
      messages: [],
      resume: [{ interruptId: question?.id ?? '', status: 'resolved' as const, payload: true }],
    };
    expect(await invoke(made(), resumeFrom(checkpoint as never, fromAgUi(sent).answers))).toBe('ordered');
  });

  it('names the call that an approval is about', async () => {
    const guide = agent({
      name: 'guide',
      model: replies({ calls: [{ ...say('a'), id: 'c1' }] }),
      tools: [echo()],
      use: [approve(['echo'])],
    });
    const last = (await told(run(guide, { input: 'Go.' }))).at(-1);
    expect(last).toMatchObject({
      outcome: { interrupts: [{ id: expect.stringContaining('#approve'), reason: 'approval_required' }] },
    });
  });

  it('tells of notices, failures and stops', async () => {
    const notice = step('n', (_: string, at) => {
      at.emit('stage', { name: 'search' });
      return 'x';
    });
    expect(await told(run(notice, { input: 'x' }))).toContainEqual({
      type: 'CUSTOM',
      name: 'stage',
      value: { name: 'search' },
    });
    const failing = step('f', () => {
      throw new Error('no disk');
    });
    expect((await told(run(failing, { input: 'x' }))).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'NODE_FAILED' });
  });

  it('refuses options that it does not have', () => {
    expect(() => toAgUi({ thread: 't' } as never)).toThrowError(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});

describe('fromAgUi', () => {
  it('reads every kind of message that a client sends', () => {
    const sent = {
      threadId: 't',
      runId: 'r',
      tools: [],
      context: [],
      messages: [
        { id: '1', role: 'developer', content: 'Be brief.' },
        {
          id: '2',
          role: 'user',
          content: [
            { type: 'text', text: 'Look:' },
            { type: 'image', source: { type: 'data', value: 'AAAA', mimeType: 'image/png' } },
          ],
        },
        {
          id: '3',
          role: 'assistant',
          toolCalls: [{ id: 'c', type: 'function', function: { name: 'see', arguments: '{}' } }],
        },
        { id: '4', role: 'tool', toolCallId: 'c', content: '', error: 'blind' },
        { id: '5', role: 'reasoning', content: 'Hm.' },
      ],
      resume: [{ interruptId: 'a', status: 'cancelled' }],
    };
    expect(RunAgentInputSchema.safeParse(sent).success).toBe(true);
    expect(fromAgUi(sent as never)).toEqual({
      threadId: 't',
      runId: 'r',
      answers: {},
      abandoned: ['a'],
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          id: '2',
          content: [
            { type: 'text', text: 'Look:' },
            { type: 'image', url: 'data:image/png;base64,AAAA', mimeType: 'image/png' },
          ],
        },
        { role: 'assistant', id: '3', content: '', toolCalls: [{ id: 'c', name: 'see', arguments: '{}' }] },
        { role: 'tool', toolCallId: 'c', content: 'blind', isError: true },
      ],
    });
  });

  it.each([
    [null],
    [{}],
    [{ threadId: 't', runId: 'r', messages: 'x' }],
    [{ threadId: 't', runId: 'r', messages: [3] }],
    [{ threadId: 't', runId: 'r', messages: [], resume: [{}] }],
  ])('refuses %j', (input) => {
    expect(() => fromAgUi(input as never)).toThrowError(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});

describe('the golden cases as events of AG-UI', () => {
  it('are taken by the published schema', { timeout: 120_000 }, async () => {
    let events = 0;
    for (const golden of readCases()) {
      const runs = new Map<number, RunEvent[]>();
      await playCase(golden, { listener: (event, at) => runs.set(at, [...(runs.get(at) ?? []), event]) });
      for (const list of runs.values()) {
        const projection = new AgUiProjection();
        const all = list.flatMap((event) => projection.project(event));
        events += all.length;
        try {
          checked(all);
        } catch (error) {
          throw new Error(`${golden.name}: ${(error as Error).message}`, { cause: error });
        }
      }
    }
    expect(events).toBeGreaterThan(1_000);
  });
});
