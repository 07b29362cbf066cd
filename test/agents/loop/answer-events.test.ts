import { concat, firstValueFrom, lastValueFrom, map, of, throwError, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  agent,
  answerEvents,
  approve,
  createRunner,
  defineMiddleware,
  type RunnerEvent,
} from '../../../src/entries/agents.js';
import { type ChatDelta, EngineError } from '../../../src/index.js';
import { echo, type Reply, replies, say, talk } from './support.js';

/** Makes every piece of an answer louder. */
const loud = (name: string, mark: string) =>
  defineMiddleware({
    name,
    wrapModel: (request, next) =>
      next(request).pipe(map((piece) => (piece.content === '' ? piece : { ...piece, content: piece.content + mark }))),
  });
const outer = loud('outer', '!');
const inner = loud('inner', '?');

/** What the events of a turn told of answers. */
function told(events: readonly RunnerEvent[]): string {
  return events
    .flatMap((event) => (event.type === 'node-chunk' && event.node.endsWith('/model') ? [event.value] : []))
    .map((value) => value as { readonly content?: string; readonly extra?: object })
    .map(({ content = '', extra }) => (extra !== undefined && 'restart' in extra ? '<R>' : content))
    .join('');
}

async function turnOf(use: readonly ReturnType<typeof loud>[], model = replies('Hello')) {
  const runner = createRunner({ agent: agent({ name: 'guide', model, use, tools: [echo()] }) });
  const events = await firstValueFrom(runner.run('Hi.', { session: 's' }).pipe(toArray()));
  const { messages } = await runner.session('s');
  return { events: told(events), said: talk(messages).at(-1), end: events.at(-1), requests: model.requests };
}

describe('the place where an answer becomes events', () => {
  it.each([
    ['outside of all, without a mark', [outer, inner], 'Hello?!'],
    ['outside of all, where it stands first', [answerEvents(), outer, inner], 'Hello?!'],
    ['between two', [outer, answerEvents(), inner], 'Hello?'],
    ['at the model, where it stands last', [outer, inner, answerEvents()], 'Hello'],
  ])('is %s', async (_, use, expected) => {
    const { events, said, end } = await turnOf(use as never);
    expect(events).toBe(expected);
    expect(said).toBe('assistant: Hello?!');
    expect(end).toMatchObject({ status: 'succeeded', text: 'Hello?!' });
  });

  it('tells the calls of the model, and makes those of the middleware before it', async () => {
    const tool = echo();
    const other = defineMiddleware({
      name: 'other',
      wrapModel: (request, next) =>
        next(request).pipe(
          map((piece) => ({
            ...piece,
            ...(piece.toolCalls && {
              toolCalls: piece.toolCalls.map((call) => ({ ...call, arguments: '{"text":"changed"}' })),
            }),
          })),
        ),
    });
    const model = replies({ calls: [say('told')] }, 'Done.');
    const runner = createRunner({
      agent: agent({ name: 'guide', model, tools: [tool], use: [other, answerEvents()] }),
    });
    const events = await lastValueFrom(runner.run('Hi.', { session: 's' }).pipe(toArray()));
    expect(tool.calls).toEqual(['changed']);
    expect(JSON.stringify(events.filter((event) => event.type === 'node-chunk')[0])).toContain('told');
  });

  it('begins anew in the events when the model is tried again', async () => {
    const unavailable = new EngineError('MODEL_UNAVAILABLE', 'quota', { retryable: true });
    const begun: ChatDelta = { type: 'text', text: 'He' };
    const broken: Reply = concat(
      of(begun),
      throwError(() => unavailable),
    );
    const model = replies(broken, 'Hello');
    const guide = agent({ name: 'guide', model, retry: { attempts: 2 }, use: [outer, answerEvents()] });
    const runner = createRunner({ agent: guide });
    const events = await lastValueFrom(runner.run('Hi.', { session: 's' }).pipe(toArray()));
    expect(told(events)).toBe('He<R>Hello');
    expect(events.at(-1)).toMatchObject({ status: 'succeeded', text: 'Hello!' });
  });

  it('holds over a question that is asked about the answer', async () => {
    const model = replies({ text: 'I send it', calls: [say('mail')] }, 'Sent');
    const use = [outer, answerEvents(), approve(['echo'])];
    const runner = createRunner({ agent: agent({ name: 'guide', model, tools: [echo()], use }) });
    const asked = await lastValueFrom(runner.run('Hi.', { session: 's' }));
    if (asked.type !== 'turn-ended' || asked.status !== 'waiting') throw new Error('It should wait.');
    const answers = Object.fromEntries(asked.questions.map(({ address }) => [address, { approved: true }]));
    const events = await lastValueFrom(runner.resume('s', answers).pipe(toArray()));
    expect(told(events)).toBe('Sent');
    expect(talk((await runner.session('s')).messages)).toEqual([
      'user: Hi.',
      'assistant: I send it! [echo]',
      'tool: echo mail',
      'assistant: Sent!',
    ]);
  });

  it('leaves an answer live that nothing before it changes', async () => {
    const model = replies('Hello');
    const { events } = await turnOf([answerEvents()] as never, model);
    expect(events).toBe('Hello');
  });

  it('stands once in a list', () => {
    expect(() => agent({ name: 'guide', use: [answerEvents(), answerEvents()] })).toThrow(
      'two middlewares are called "answerEvents"',
    );
  });
});
