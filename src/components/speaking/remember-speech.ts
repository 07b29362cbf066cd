import { EngineError } from '../../errors.js';
import type { SpeechAudio } from '../../models/define-provider.js';
import type { Models } from '../../models/router.js';

/** How long and how much sound is kept. */
export interface SpeechMemoryOptions {
  /** Seconds; 0 or less keeps nothing. @default 604800, seven days */
  readonly ttlSeconds?: number;
  /** Bytes of sound, after which what was used longest ago is forgotten. @default 16 MiB */
  readonly maxBytes?: number;
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
}

interface Kept {
  readonly audio: SpeechAudio;
  readonly until: number;
}

const WEEK_SECONDS = 604_800;

/**
 * Models that say the same sentence in the same voice only once: the sound is kept in the memory of the process.
 *
 * @throws EngineError CONFIG_INVALID for a time or a size that is no number.
 */
export function rememberSpeech(models: Models, options: SpeechMemoryOptions = {}): Models {
  const { ttlSeconds = WEEK_SECONDS, maxBytes = 16_777_216, now = Date.now } = options;
  checkNumber('ttlSeconds', ttlSeconds);
  checkNumber('maxBytes', maxBytes);
  if (ttlSeconds <= 0) return models;
  // A Map keeps the order in which keys were set: what was used longest ago comes first.
  const kept = new Map<string, Kept>();
  let size = 0;

  const forget = (key: string, { audio }: Kept): void => {
    kept.delete(key);
    size -= audio.bytes.length;
  };
  const recall = (key: string): SpeechAudio | undefined => {
    const found = kept.get(key);
    if (found === undefined) return undefined;
    forget(key, found);
    if (found.until <= now()) return undefined;
    keep(key, found);
    return found.audio;
  };
  const keep = (key: string, given: Kept): void => {
    const former = kept.get(key);
    if (former !== undefined) forget(key, former);
    kept.set(key, given);
    size += given.audio.bytes.length;
    for (const [oldest, old] of kept) {
      if (size <= maxBytes) return;
      forget(oldest, old);
    }
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
          keep(key, { audio, until: now() + ttlSeconds * 1_000 });
          return audio;
        },
      };
    },
  };
}

function checkNumber(name: string, value: number): void {
  if (Number.isFinite(value)) return;
  throw new EngineError('CONFIG_INVALID', `rememberSpeech: ${name} must be a number; received ${value}.`);
}
