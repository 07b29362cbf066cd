import { concat, defer, filter, map, type Observable, of } from 'rxjs';
import { delta, type NodeEvent, settled, warning } from '../../graph/node-events.js';
import type { ChatDelta } from '../../models/chat-model.js';
import { MarkedText } from '../speaking/think-text.js';
import { usageEvent } from './structured-answer.js';

/** How an answer is kept. */
export interface AnswerOptions {
  /**
   * Keeps reasoning in the settled content, between think marks, as RAGFlow does for an answer that a Message streams. Otherwise
   * the content is what stands behind the last reasoning.
   */
  readonly keepThinking: boolean;
}

/**
 * A model's answer as events of a node: text and reasoning as they come, token counts, and at the end the content.
 *
 * ```text
 * answer    --k--t--t--u--f|        (thinking, text, text, usage, finish)
 * result    --k--c--c--u--(s|)      (deltas on `thinking` and `content`, usage, settled)
 * ```
 *
 * An answer that ended because it was too long is settled with a warning. Errors of the model pass.
 */
export function answerEvents(answer$: Observable<ChatDelta>, { keepThinking }: AnswerOptions): Observable<NodeEvent> {
  return defer(() => {
    let content = new MarkedText();
    let hasThought = false;
    const toEvent = (piece: ChatDelta): NodeEvent | undefined => {
      switch (piece.type) {
        case 'text':
          // What was said before a thought led up to it: the answer is what comes behind the last one.
          if (hasThought && !keepThinking) content = new MarkedText();
          hasThought = false;
          content.append(piece.text, false);
          return delta('content', piece.text);
        case 'thinking':
          hasThought = true;
          if (keepThinking) content.append(piece.text, true);
          return delta('thinking', piece.text);
        case 'usage':
          return usageEvent(piece);
        case 'finish':
          return piece.reason === 'length' ? TOO_LONG : undefined;
        default:
          return undefined;
      }
    };
    return concat(
      answer$.pipe(
        map(toEvent),
        filter((event) => event !== undefined),
      ),
      defer(() => of(settled({ content: content.toString() }))),
    );
  });
}

const TOO_LONG = warning('The answer was cut off at its token limit; raise max_tokens or ask for less.');
