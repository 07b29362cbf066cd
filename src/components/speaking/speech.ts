import { catchError, defer, filter, map, Observable, type OperatorFunction, of } from 'rxjs';
import { EngineError, toEngineError } from '../../errors.js';
import { type Delta, type Notice, notice, warning } from '../../graph/node-events.js';
import type { SpeechAudio } from '../../models/define-provider.js';
import type { Models } from '../../models/router.js';
import { Newest } from '../../newest.js';
import { mapInOrder } from '../../operators/map-in-order.js';

/** Sentences that are made into sound at once, and that may be begun or made before they are due. */
const PACE = { concurrency: 2, ahead: 4 };

/**
 * Reads an answer aloud while it comes: one `audio` notice with the sound as hexadecimal text for each sentence, in order.
 *
 * ```text
 * pieces    --a----b------|       (two sentences)
 * speak(a)  --------x|
 * speak(b)       --y|
 * result    ----------(xy)|
 * ```
 *
 * Two sentences are synthesised at once, and at most four wait for an earlier one. The first failure is reported as a warning and
 * ends the speech, never the answer.
 */
export function readAloud(speak: (sentence: string) => Observable<SpeechAudio>): OperatorFunction<Delta, Notice> {
  return (source) =>
    defer(() => {
      let isBroken = false;
      const sound = (sentence: string): Observable<Notice | undefined> => {
        if (isBroken) return of(undefined);
        return defer(() => speak(sentence)).pipe(
          map(({ bytes }) => notice('audio', { audio_binary: Buffer.from(bytes).toString('hex') })),
          catchError((error: unknown) => {
            if (isBroken) return of(undefined);
            isBroken = true;
            return of(warning(`The answer is not read aloud: ${toEngineError(error, 'MODEL_RESPONSE').message}`));
          }),
        );
      };
      return source.pipe(
        sentences(),
        mapInOrder(sound, PACE),
        filter((event) => event !== undefined),
      );
    });
}

/** Characters after which a text is spoken even without an end of a sentence. */
const MAX_LENGTH = 500;

/** The end of a sentence with what closes it; a full stop only before a blank, so that 3.14 stays whole. */
const END = /[。！？!?；;\n]+["'”’)\]）】」』]*|\.["'”’)\]]*(?=\s)/g;
const BLANKS = /\s+/g;
const TAG = /<[^<>]*>/g;
const UNSPEAKABLE = /\p{C}|\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Variation_Selector}/gu;

/**
 * Turns pieces of an answer into sentences that can be read aloud, as soon as they are whole.
 *
 * ```text
 * pieces    --a----b----k--|      a: 'Hi. H'   b: 'ow are you? F'   k: thinking
 * result    --x----y----z--|      x: 'Hi.'     y: 'How are you?'    z: 'F'
 * ```
 *
 * Thinking is not spoken and ends a sentence. Tags, emoji and control characters are left out, and so is what holds no
 * letter or digit. A sentence is at most 500 characters long; longer ones are cut.
 */
export function sentences(): OperatorFunction<Delta, string> {
  return (source) =>
    new Observable((subscriber) => {
      let held = '';
      const emit = (text: string): void => {
        for (let from = 0; from < text.length; from += MAX_LENGTH) {
          const spoken = speakable(text.slice(from, from + MAX_LENGTH));
          if (spoken !== '') subscriber.next(spoken);
        }
      };
      const flush = (): void => {
        const text = held;
        held = '';
        emit(text);
      };
      const take = (text: string): void => {
        held += text;
        let from = 0;
        for (const end of held.matchAll(END)) {
          const to = end.index + end[0].length;
          emit(held.slice(from, to));
          from = to;
        }
        for (; held.length - from > MAX_LENGTH; from += MAX_LENGTH) emit(held.slice(from, from + MAX_LENGTH));
        held = held.slice(from);
      };
      return source.subscribe({
        next: ({ port, text }) => (port === 'thinking' ? flush() : take(text)),
        error: (error) => subscriber.error(error),
        complete: () => {
          flush();
          subscriber.complete();
        },
      });
    });
}

function speakable(text: string): string {
  const words = text.replace(TAG, ' ').replace(BLANKS, ' ').replace(UNSPEAKABLE, '').replace(BLANKS, ' ').trim();
  return /[\p{L}\p{N}]/u.test(words) ? words : '';
}

/** How long and how much sound is cached. */
export interface SpeechMemoryOptions {
  /** Seconds; 0 or less caches nothing. @default 604800, seven days */
  readonly ttlSeconds?: number;
  /** Bytes of sound, after which what was used longest ago is forgotten. @default 16 MiB */
  readonly maxBytes?: number;
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
}

interface Cached {
  readonly audio: SpeechAudio;
  readonly until: number;
}

const WEEK_SECONDS = 604_800;

/** Most sentences whose sound is cached: one without sound takes room, too. */
const MAX_SOUNDS = 10_000;

/**
 * Models that synthesise the same sentence in the same voice only once: the sound is cached in the memory of the process.
 *
 * @throws EngineError CONFIG_INVALID for a time or a size that is no number.
 */
export function rememberSpeech(models: Models, options: SpeechMemoryOptions = {}): Models {
  const { ttlSeconds = WEEK_SECONDS, maxBytes = 16_777_216, now = Date.now } = options;
  for (const [name, value] of Object.entries({ ttlSeconds, maxBytes })) {
    if (Number.isFinite(value)) continue;
    throw new EngineError('CONFIG_INVALID', `rememberSpeech: ${name} must be a number; received ${value}.`);
  }
  if (ttlSeconds <= 0) return models;
  const cache = new Newest<Cached>({
    maxCount: MAX_SOUNDS,
    maxSize: maxBytes,
    sizeOf: ({ audio }) => audio.bytes.length,
  });
  const recall = (key: string): SpeechAudio | undefined => {
    const found = cache.touch(key);
    if (found === undefined || found.until > now()) return found?.audio;
    cache.delete(key);
    return undefined;
  };

  return {
    ...models,
    speech(modelId = '') {
      const speech = models.speech(modelId);
      return {
        async speak(text, spoken = {}) {
          const key = JSON.stringify([modelId, spoken.voice ?? '', spoken.format ?? '', text]);
          const known = recall(key);
          if (known !== undefined) return known;
          const audio = await speech.speak(text, spoken);
          cache.put(key, { audio, until: now() + ttlSeconds * 1_000 });
          return audio;
        },
      };
    },
  };
}
