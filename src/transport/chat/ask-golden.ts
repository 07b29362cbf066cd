/** Golden questions to a chat, each in a run of its own that nothing keeps. */
import { defer, last, map, type Observable } from 'rxjs';
import type { Canvas } from '../../canvas/load-canvas.js';
import { runTurn, type TurnOptions } from '../../canvas/turn.js';
import { toChatEvent } from '../../chat/chat-frames.js';
import type { GoldenQuestion } from '../../chat/evaluation/golden-file.js';
import type { ChatEnd } from '../../chat/evaluation/score-answer.js';
import { EngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';

/** Options of one question, beside those of its run. */
export interface AskGoldenOptions extends Omit<TurnOptions, 'session' | 'onSession' | 'run'> {
  /** Variables set for this run, such as what a turn changes of its chat. @default none */
  readonly variables?: JsonObject | undefined;
}

/**
 * Asks one question; emits how the chat ended. Cold: unsubscribing ends the run.
 *
 * ```text
 * run      S--n--d--d--n--E|
 * result   ----------------(F|)    (final, or error)
 * ```
 *
 * Errors: those of `run`; INTERNAL for a document that is no chat's.
 */
export function askGolden(
  canvas: Canvas,
  { id, question }: GoldenQuestion,
  { variables = {}, ...options }: AskGoldenOptions,
): Observable<ChatEnd> {
  const about = { sessionId: id, traceId: '' };
  return defer(() => runTurn(canvas, { query: question, variables }, { ...options, run: id })).pipe(
    map((event) => toChatEvent(event, about)),
    last((event) => event !== undefined, undefined),
    map((end): ChatEnd => {
      if (end?.type === 'final' || end?.type === 'error') return end;
      throw new EngineError('INTERNAL', `The chat about question "${id}" did not end.`);
    }),
  );
}
