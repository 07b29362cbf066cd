import { catchError, defer, filter, map, type Observable, type OperatorFunction, of } from 'rxjs';
import { toEngineError } from '../../errors.js';
import { type Delta, type Notice, notice, warning } from '../../graph/node-events.js';
import type { SpeechAudio } from '../../models/define-provider.js';
import { mapInOrder } from './map-in-order.js';
import { sentences } from './sentences.js';

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
 * Two sentences are made at once, and four at most wait to be heard. The first failure is told as a warning and ends the reading, never the answer.
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
        filter((said) => said !== undefined),
      );
    });
}
