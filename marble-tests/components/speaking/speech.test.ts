import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { readAloud } from '../../../src/components/speaking/speech.js';
import { delta, notice, warning } from '../../../src/graph/node-events.js';
import type { SpeechAudio } from '../../../src/models/define-provider.js';
import { marbles } from '../../support/scheduler.js';

const say = (text: string) => delta('content', text);
const audio = (text: string): SpeechAudio => ({ bytes: new TextEncoder().encode(text), mediaType: 'audio/mpeg' });
const sound = (text: string) => notice('audio', { audio_binary: Buffer.from(text).toString('hex') });
const sounds = { a: audio('A.'), b: audio('B.'), c: audio('C.') };
const notices = { a: sound('A.'), b: sound('B.'), c: sound('C.') };

describe('readAloud', () => {
  it('makes two sentences at once and gives them in order', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const pieces = cold('  x----|', { x: say('A. B. C. ') });
      const a = cold('       ------(a|)', sounds);
      const b = cold('       --(b|)', sounds);
      const c = cold('         --------(c|)', sounds);
      const speak = (text: string) => ({ 'A.': a, 'B.': b, 'C.': c })[text] ?? of();
      expectObservable(pieces.pipe(readAloud(speak))).toBe('------(ab)(c|)', notices);
      expectSubscriptions(c.subscriptions).toBe('  --^-------!');
    }));

  it('ends with a warning when a sentence cannot be made, and makes no further ones', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const pieces = cold('  x---y-|', { x: say('A. '), y: say('B. ') });
      const a = cold<SpeechAudio>('--#', {}, new Error('hoarse'));
      const b = cold('       (b|)', sounds);
      const speak = (text: string) => (text === 'A.' ? a : b);
      const w = warning('The answer is not read aloud: hoarse');
      expectObservable(pieces.pipe(readAloud(speak))).toBe('--w---|', { w });
      expectSubscriptions(b.subscriptions).toBe([]);
    }));

  it('fails with the answer, and stops what is being made', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const broken = cold('  x---#', { x: say('A. ') });
      const a = cold('       ------(a|)', sounds);
      expectObservable(broken.pipe(readAloud(() => a))).toBe('----#');
      expectSubscriptions(a.subscriptions).toBe('^---!');

      const stopped = cold(' x-----', { x: say('B. ') });
      const b = cold('       ------(b|)', sounds);
      expectObservable(stopped.pipe(readAloud(() => b)), '^--!').toBe('----');
      expectSubscriptions(b.subscriptions).toBe('^--!');
    }));

  it('treats a speaker that throws like one that fails', () => {
    const heard: unknown[] = [];
    const speak = () => {
      throw new Error('mute');
    };
    of(say('A. B.'))
      .pipe(readAloud(speak))
      .subscribe((event) => heard.push(event));
    expect(heard).toEqual([warning('The answer is not read aloud: mute')]);
  });
});
