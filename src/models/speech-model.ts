import { type AskOptions, askOnce, type CallOptions } from './ask-once.js';
import { unusable } from './provider-error.js';

const SPEECH_PATH = '/audio/speech';

/** Spoken text. */
export interface SpeechAudio {
  readonly bytes: Uint8Array;
  /** For example `audio/mpeg`. */
  readonly mediaType: string;
}

/** How to speak. */
export interface SpeechOptions extends CallOptions {
  /** A voice of the model. @default "alloy" */
  readonly voice?: string | undefined;
  /** @default "mp3" */
  readonly format?: 'mp3' | 'opus' | 'aac' | 'flac' | 'wav' | 'pcm' | undefined;
}

/** A model that reads text aloud. */
export interface SpeechModel {
  speak(text: string, options?: SpeechOptions): Promise<SpeechAudio>;
}

/**
 * A speech model behind an OpenAI-compatible `POST /audio/speech`.
 *
 * Errors of `speak`: `MODEL_REQUEST`, `MODEL_UNAVAILABLE`, `MODEL_RESPONSE` (also for an answer without sound).
 */
export function createSpeechModel(options: AskOptions): SpeechModel {
  const { provider, model } = options;

  const ask = async (
    input: string,
    { voice = 'alloy', format = 'mp3', headers }: SpeechOptions,
    signal: AbortSignal,
  ): Promise<SpeechAudio> => {
    const body = { model, input, voice, response_format: format };
    const call = { path: SPEECH_PATH, model, headers, signal, body };
    const { bytes, mediaType } = await provider.read(call);
    // Some gateways report an error as JSON with status 200.
    if (bytes.length === 0 || mediaType === 'application/json') {
      throw unusable(provider.asked(call), `gave no sound: "${bytes.subarray(0, 100).toString('utf8')}"`);
    }
    return { bytes, mediaType: mediaType || 'application/octet-stream' };
  };

  return {
    speak: (text, spoken = {}) => askOnce(options, (own) => ask(text, spoken, own), spoken.signal),
  };
}
