import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { Feed } from '../operators/feed.js';
import type { ChatDelta } from './chat-model.js';

const OPEN = '<think>';
const CLOSE = '</think>';

/**
 * Turns text between `<think>` and `</think>` into thinking deltas; the tags themselves are removed.
 *
 * ```text
 * source    --a--b--c--d--|        a: 'Hi <th'   b: 'ink>so'     c: '</think>4'   d: '2'
 * result    --w--x--y--z--|        w: 'Hi '      x: think 'so'   y: '4'           z: '2'
 * ```
 *
 * Tags may be cut anywhere between deltas. Only a text that may be the beginning of a tag is held back, at most seven
 * characters, and it is emitted before any delta of another type but log probabilities, and at the end. No other character is lost; a closing tag
 * without an opening one is text. Errors of the source pass at once.
 */
export function splitThinking(): MonoTypeOperatorFunction<ChatDelta> {
  return (source) =>
    new Observable((subscriber) => {
      let held = '';
      let isThinking = false;

      const emit = (text: string): void => {
        if (text !== '') subscriber.next({ type: isThinking ? 'thinking' : 'text', text });
      };
      const release = (): void => {
        const text = held;
        held = '';
        emit(text);
      };
      const split = (text: string): void => {
        let rest = text;
        for (;;) {
          const tag = isThinking ? CLOSE : OPEN;
          const at = rest.indexOf(tag);
          if (at < 0) {
            const length = overlap(rest, tag);
            held = rest.slice(rest.length - length);
            emit(rest.slice(0, rest.length - length));
            return;
          }
          emit(rest.slice(0, at));
          isThinking = !isThinking;
          rest = rest.slice(at + tag.length);
        }
      };

      // A feed and not an observer: it can be unsubscribed while a synchronous source is still emitting.
      const feed = new Feed<ChatDelta>({
        fed(delta) {
          if (delta.type === 'log-probabilities') {
            // They come beside text, and say nothing about where it ends.
            subscriber.next(delta);
          } else if (delta.type !== 'text') {
            release();
            subscriber.next(delta);
          } else if (held === '' && !isThinking && !delta.text.includes('<')) {
            // The common case, passed without a new object; an empty text is dropped.
            if (delta.text !== '') subscriber.next(delta);
          } else {
            const text = held + delta.text;
            held = '';
            split(text);
          }
        },
        feedFailed: (error) => subscriber.error(error),
        feedEnded() {
          release();
          subscriber.complete();
        },
      });
      subscriber.add(feed);
      source.subscribe(feed);
    });
}

/** Length of the longest end of `text` that is a beginning of `tag`. */
function overlap(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length -= 1) {
    if (tag.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
