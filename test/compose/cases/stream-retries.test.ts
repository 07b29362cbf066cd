import { from, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  chain,
  EngineError,
  invoke,
  operator,
  parallel,
  passthrough,
  type Step,
  step,
  stream,
} from '../../../src/index.js';

/** Gives `a` and fails, then gives `a` and `b`. */
const flaky = (): Step<string, string> => {
  let tries = 0;
  return step(
    'flaky',
    async function* (_: string) {
      tries += 1;
      yield 'a';
      await new Promise(setImmediate);
      if (tries === 1) throw new EngineError('MODEL_UNAVAILABLE', 'asleep', { retryable: true });
      yield 'b';
    },
    { retry: { attempts: 2 } },
  );
};
const words = (text: string): Observable<string> => from(text.split(' '));
const through = (): Step<string, string> => passthrough<string>();

describe('a stream that fails and is tried again', () => {
  it.each<[string, Step<string, unknown>, unknown]>([
    ['a reader', chain(flaky(), through(), (text: string) => text), 'ab'],
    ['readers of readers', chain(flaky(), through(), through(), through()), 'ab'],
    ['a reader of another stream as well', parallel({ one: flaky(), two: words }), { one: 'ab', two: 'xy' }],
    ['a reader of a value as well', parallel({ one: flaky(), two: (text: string) => text }), { one: 'ab', two: 'x y' }],
    ['a reader behind another one', parallel({ one: chain(flaky(), through()), two: words }), { one: 'ab', two: 'xy' }],
    [
      'a reader behind another one, and of a value',
      parallel({ one: chain(flaky(), through()), two: (text: string) => text }),
      { one: 'ab', two: 'x y' },
    ],
    ['two that fail', parallel({ one: chain(flaky(), through()), two: flaky() }), { one: 'ab', two: 'ab' }],
    [
      'a reader of what was gathered',
      chain(
        parallel({ one: flaky(), two: words }),
        operator((chunks: Observable<object>) => chunks),
      ),
      { one: 'ab', two: 'xy' },
    ],
  ])('gives the whole result of the second try to %s', async (_, made, expected) => {
    expect(await invoke(made, 'x y')).toEqual(expected);
  });

  it('lets a subscriber see both tries: what was given cannot be taken back', async () => {
    const heard: string[] = [];
    await new Promise<void>((resolve, reject) => {
      stream(chain(flaky(), through()), 'x').subscribe({
        next: (chunk) => heard.push(chunk),
        error: reject,
        complete: resolve,
      });
    });
    expect(heard).toEqual(['a', 'a', 'b']);
  });
});
