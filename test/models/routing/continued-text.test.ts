import { describe, expect, it } from 'vitest';
import { ContinuedText } from '../../../src/models/routing/continued-text.js';
import { property } from '../../support/random.js';

/** What is new of a continuation that comes in these pieces. */
function newOf(shown: string, pieces: readonly string[]): string {
  const text = new ContinuedText(shown);
  return pieces.map((piece) => text.push(piece)).join('') + text.end();
}

const SHOWN = 'The breaker opens after five failures in a row, and it stays open for fi';

describe('ContinuedText', () => {
  it.each([
    ['goes on in the middle of a word', SHOWN, 've minutes.', 've minutes.'],
    ['repeats the end', SHOWN, 'it stays open for five minutes.', 've minutes.'],
    ['repeats everything', SHOWN, `${SHOWN}ve minutes.`, 've minutes.'],
    ['repeats a few letters, which may be chance', 'He said hello', 'hello again', 'hello again'],
    ['repeats a short text from its beginning', 'Hello', 'Hello world', ' world'],
    ['repeats the beginning and ends there', SHOWN, SHOWN.slice(0, 30), ''],
    ['says something else', SHOWN, 'I cannot say.', 'I cannot say.'],
    ['says nothing', SHOWN, '', ''],
    ['comes after nothing', '', 'Hello', 'Hello'],
    ['repeats in another script', '断路器在连续五次失败之后会打开并保持', '会打开并保持五分钟', '会打开并保持五分钟'],
    [
      'repeats enough in another script',
      '断路器在连续五次失败之后会打开并保持',
      '连续五次失败之后会打开并保持五分钟',
      '五分钟',
    ],
    ['doubles a letter', 'aaaaaaaaaaaaaaaa', 'aaaaaaaaaaaaaaaab', 'b'],
    ['breaks inside a surrogate pair', 'smile 😀 and a wave 👋', ' and a wave 👋🎉', '🎉'],
  ])('gives what is new when a continuation %s', (_, shown, said, expected) => {
    expect(newOf(shown, [said])).toBe(expected);
    expect(newOf(shown, [...said])).toBe(expected);
  });

  it('holds nothing back once it is clear that nothing is repeated', () => {
    const text = new ContinuedText(SHOWN);
    expect(text.push('ve')).toBe('');
    expect(text.push(' minutes')).toBe('ve minutes');
    expect(text.push('.')).toBe('.');
  });

  property(
    'gives exactly the rest, wherever a text of different words is cut and how much of its end is repeated',
    300,
    (random) => {
      const words = Array.from({ length: 40 }, (_, at) => `w${at}${'x'.repeat(random.int(6))}`).join(' ');
      const cut = 15 + random.int(words.length - 15);
      const repeated = random.chance(0.5) ? 0 : 12 + random.int(cut - 12);
      const said = words.slice(cut - repeated);
      const pieces: string[] = [];
      for (let at = 0; at < said.length; ) {
        const length = 1 + random.int(9);
        pieces.push(said.slice(at, at + length));
        at += length;
      }
      expect(newOf(words.slice(0, cut), pieces)).toBe(words.slice(cut));
    },
  );
});
