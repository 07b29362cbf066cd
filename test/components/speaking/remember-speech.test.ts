import { describe, expect, it } from 'vitest';
import { rememberSpeech, type SpeechMemoryOptions } from '../../../src/components/speaking/speech.js';
import type { Models } from '../../../src/models/router.js';

/** Models that make two bytes of sound for every sentence but `mute`, and the sentences that were asked for. */
function speaker(options: SpeechMemoryOptions = {}) {
  const asked: string[] = [];
  let time = 0;
  const speak = async (text: string) => {
    asked.push(text);
    if (text === 'mute') throw new Error('no voice');
    return { bytes: new TextEncoder().encode(text.slice(0, 2)), mediaType: 'audio/mpeg' };
  };
  const models = { isScripted: true, speech: () => ({ speak }) } as unknown as Models;
  const remembering = rememberSpeech(models, { now: () => time, ...options });
  const wait = (ms: number) => {
    time += ms;
  };
  return { asked, models, remembering, wait };
}

describe('rememberSpeech', () => {
  it('asks for a sentence once', async () => {
    const { asked, remembering } = speaker();
    const first = await remembering.speech().speak('Hi.');
    expect(await remembering.speech().speak('Hi.')).toBe(first);
    expect(asked).toEqual(['Hi.']);
    expect(remembering.isScripted).toBe(true);
  });

  it('keeps models, voices and formats apart', async () => {
    const { asked, remembering } = speaker();
    await remembering.speech().speak('Hi.');
    await remembering.speech('other').speak('Hi.');
    await remembering.speech().speak('Hi.', { voice: 'nova' });
    await remembering.speech().speak('Hi.', { format: 'wav' });
    await remembering.speech().speak('Hi.', { signal: new AbortController().signal });
    expect(asked).toHaveLength(4);
  });

  it.each([
    ['a week', {}, 604_799_999, 604_800_000],
    ['as long as it is told', { ttlSeconds: 2 }, 1_999, 2_000],
  ])('keeps sound for %s', async (_, options, before, after) => {
    const { asked, remembering, wait } = speaker(options);
    await remembering.speech().speak('Hi.');
    wait(before);
    await remembering.speech().speak('Hi.');
    expect(asked).toHaveLength(1);
    wait(after - before);
    await remembering.speech().speak('Hi.');
    expect(asked).toHaveLength(2);
  });

  it('forgets what was used longest ago when there is too much', async () => {
    const { asked, remembering } = speaker({ maxBytes: 5 });
    for (const text of ['one', 'two', 'one', 'three', 'one', 'two']) await remembering.speech().speak(text);
    expect(asked).toEqual(['one', 'two', 'three', 'two']);
  });

  it('keeps nothing that is larger than its place, and no failure', async () => {
    const { asked, remembering } = speaker({ maxBytes: 1 });
    for (const text of ['one', 'one']) await remembering.speech().speak(text);
    for (let i = 0; i < 2; i += 1) await expect(remembering.speech().speak('mute')).rejects.toThrow('no voice');
    expect(asked).toEqual(['one', 'one', 'mute', 'mute']);
  });

  it('is nothing without a time, and refuses what is no number', () => {
    const { models } = speaker();
    expect(rememberSpeech(models, { ttlSeconds: 0 })).toBe(models);
    expect(() => rememberSpeech(models, { ttlSeconds: Number.NaN })).toThrow(
      /ttlSeconds must be a number; received NaN/,
    );
  });
});
