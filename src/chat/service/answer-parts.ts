/** Stage 8: what a model route answers, as parts of an answer. */
import { concat, concatMap, defer, EMPTY, type Observable, of } from 'rxjs';
import type { JsonObject } from '../../json.js';
import type { RouteDelta } from '../../models/routing/route-target.js';
import type { AnswerPart } from '../pipeline/chat-ports.js';

/**
 * The parts of an answer; the last one says which model gave it, after how many attempts, for how many tokens.
 *
 * ```text
 * route     --(Sx)-y-R-(Sx)-y-f|     (S: served, R: retract)
 * parts     ---x---y-r---x--y-(d|)
 * ```
 *
 * Errors: those of the route.
 */
export function answerParts(answer$: Observable<RouteDelta>, asked: string): Observable<AnswerPart> {
  return defer(() => {
    let model = asked;
    let attempts = 1;
    let usage: JsonObject = {};
    let reason = 'unknown';
    const toPart = (piece: RouteDelta): Observable<AnswerPart> => {
      switch (piece.type) {
        case 'text':
          return of({ type: 'token', content: piece.text });
        case 'thinking':
          return of({ type: 'thinking', content: piece.text });
        case 'retract':
          return of({ type: 'retract', reason: piece.reason });
        case 'served':
          ({ model, attempts } = piece);
          return EMPTY;
        case 'usage':
          usage = {
            prompt_tokens: piece.promptTokens,
            completion_tokens: piece.completionTokens,
            total_tokens: piece.totalTokens,
          };
          return EMPTY;
        case 'finish':
          ({ reason } = piece);
          return EMPTY;
        default:
          return EMPTY;
      }
    };
    const end$ = defer(() =>
      of<AnswerPart>({
        type: 'done',
        model,
        usage,
        detail: { attempts, tokens: usage.completion_tokens ?? null, finish_reason: reason },
      }),
    );
    return concat(answer$.pipe(concatMap(toPart)), end$);
  });
}
