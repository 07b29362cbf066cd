import { Observable, type OperatorFunction } from 'rxjs';
import type { Delta } from '../../graph/node-events.js';

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
