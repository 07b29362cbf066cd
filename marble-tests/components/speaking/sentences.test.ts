import { EMPTY, from, map, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { sentences } from '../../../src/components/speaking/speech.js';
import { delta } from '../../../src/graph/node-events.js';
import { marbles } from '../../support/scheduler.js';

const say = (text: string) => delta('content', text);

describe('sentences', () => {
  it('come as soon as they are whole', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const pieces = cold('--a----b----k---c--|', {
        a: say('Hi. H'),
        b: say('ow are you? F'),
        k: delta('thinking', 'secret.'),
        c: say('ine, 3.14'),
      });
      const expected = '   --x----y----z------(w|)';
      expectObservable(pieces.pipe(sentences())).toBe(expected, {
        x: 'Hi.',
        y: 'How are you?',
        z: 'F',
        w: 'ine, 3.14',
      });
      expectSubscriptions(pieces.subscriptions).toBe('^------------------!');
    }));

  it('end with the pieces', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const pieces = cold('--a--#', { a: say('Half') });
      expectObservable(pieces.pipe(sentences())).toBe('-----#');
      const stopped = cold('--a-----', { a: say('One. Two') });
      expectObservable(stopped.pipe(sentences()), '^---!').toBe('--x--', { x: 'One.' });
      expectSubscriptions(stopped.subscriptions).toBe('^---!');
    }));

  it('come from pieces that come at once', () => {
    const heard: string[] = [];
    of(say('A。「B！」C\nD; '), say('E…'))
      .pipe(sentences())
      .subscribe((text) => heard.push(text));
    expect(heard).toEqual(['A。', '「B！」', 'C', 'D;', 'E…']);
    EMPTY.pipe(sentences()).subscribe((text) => heard.push(text));
    expect(heard).toHaveLength(5);
  });

  it.each([
    ['tags', '<b>bold</b> text', 'bold text'],
    ['emoji', 'fine 👍🏽 ok', 'fine ok'],
    ['control characters', 'a\u0007b', 'ab'],
    ['line ends', 'a\tb', 'a b'],
  ])('leave out %s', (_, text, spoken) => {
    const heard: string[] = [];
    of(say(text))
      .pipe(sentences())
      .subscribe((sentence) => heard.push(sentence));
    expect(heard).toEqual([spoken]);
  });

  it('are never longer than 500 characters, and say something', () => {
    const heard: string[] = [];
    of(say('x'.repeat(1_200)), say('. *** ! -'))
      .pipe(sentences())
      .subscribe((sentence) => heard.push(sentence));
    expect(heard.map(({ length }) => length)).toEqual([500, 500, 201]);
  });

  it('are cut at the same places however the pieces come', () => {
    const text = `${'x'.repeat(1_200)}. Next one. `;
    for (const size of [1, 7, 499, 500, 501, 2_000]) {
      const lengths: number[] = [];
      from(text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [])
        .pipe(map(say), sentences())
        .subscribe(({ length }) => lengths.push(length));
      expect(lengths).toEqual([500, 500, 201, 9]);
    }
  });
});
