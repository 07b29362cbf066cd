/** Steps whose stream is, or begins with, a question. */
import { map, Observable, of, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  chain,
  generator,
  graph,
  invoke,
  operator,
  resumeFrom,
  type StepActivation,
  type StepFunction,
  step,
} from '../../src/index.js';
import { waiting } from './support/waiting-runs.js';

/** Asks once, as the first chunk of its stream; then gives its input and the answer. */
const asking = (text: string, at: StepActivation): Observable<unknown> =>
  at.isResumed ? of(text, String(at.answer)) : of(at.interrupt('which?'));

describe('a question in the place of a stream', () => {
  it('starts no reader of the chunks of a step that may ask', async () => {
    const begun: string[] = [];
    const reading = operator(
      'reading',
      tap<string>({ subscribe: () => void begun.push('subscribed'), next: (chunk) => void begun.push(chunk) }),
    );
    const steps = chain(step('asks', asking as StepFunction<string, string>, { mayAsk: true }), reading);
    const { questions, checkpoint } = await waiting(steps, 'a');
    expect(questions).toMatchObject([{ address: 'asks', question: 'which?' }]);
    expect(begun).toEqual([]);
    expect(await invoke(steps, resumeFrom(checkpoint, { asks: 'b' }))).toBe('ab');
    expect(begun).toEqual(['subscribed', 'a', 'b']);
  });

  it.each([
    ['after', { after: (value: string) => `<${value}>` }, '<ab>'],
    ['afterChunks', { afterChunks: map((chunk: string) => `<${chunk}>`) }, '<a><b>'],
  ])('is not seen by the hook "%s"', async (_, hook, expected) => {
    const asks = step('asks', asking as StepFunction<string, string>);
    const around = graph<string, string>('around', (g) => {
      const node = g.node('asks', asks, hook);
      g.edge(g.start, node);
      g.edge(node, g.end);
    });
    const { questions, checkpoint } = await waiting(around, 'a');
    expect(questions).toMatchObject([{ address: 'asks', question: 'which?' }]);
    expect(await invoke(around, resumeFrom(checkpoint, { asks: 'b' }))).toBe(expected);
  });
});

it('gives up what it reads when a generator with a hook behind it ends early', async () => {
  let left = 0;
  const endless = () =>
    new Observable<string>((subscriber) => {
      const timer = setInterval(() => subscriber.next('a'), 0);
      return () => {
        left += 1;
        clearInterval(timer);
      };
    });
  const first = generator('first', async function* (chunks: AsyncIterable<string>) {
    for await (const chunk of chunks) {
      yield chunk;
      yield 'b';
      return;
    }
  });
  const unread = generator('unread', async function* (_: AsyncIterable<string>) {
    yield 'c';
  });
  for (const [reader, expected] of [
    [first, '<ab>'],
    [unread, '<c>'],
  ] as const) {
    const around = graph<null, string>('around', (g) => {
      const made = g.node('made', endless);
      const node = g.node('node', reader, { after: (value: string) => `<${value}>` });
      g.edge(g.start, made);
      g.edge(made, node);
      g.edge(node, g.end);
    });
    expect(await invoke(around, null)).toBe(expected);
  }
  expect(left).toBe(2);
});
