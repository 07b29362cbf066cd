import { Observable, type OperatorFunction } from 'rxjs';
import type { RunEvent } from '../graph/events.js';
import { isJsonObject } from '../json.js';
import { requireOptions } from '../operators/invalid-option.js';
import type { UiMessageChunk } from './protocol.js';
import { UiMessageProjection, type UiMessagesOptions } from './to-ui-messages.js';

/** What a runner says between the events of its runs; see `RunnerEvent` of `runnel/agents`. */
export type TurnEvent =
  | { readonly type: 'turn-started' }
  | { readonly type: 'turn-ended' }
  | { readonly type: 'input-accepted'; readonly id: string }
  | { readonly type: 'input-delivered'; readonly id: string; readonly agent: string; readonly round: number }
  | { readonly type: 'input-dropped'; readonly id: string; readonly reason: string };

/**
 * Projects a run's events to chunks of the AI SDK's UI message stream, in order; each may become several.
 *
 * ```text
 * source    --S--s--d--d--e--E|      (run-started, node-started, two deltas, node-settled, run-settled)
 * result    --a-----b--c--d--e|      (start; start-step, text-start, text-delta; text-delta; text-end; finish-step, finish)
 * ```
 *
 * Every node that speaks has text parts of its own, with its id in `providerMetadata.runnel`. Calls of tools are tool parts, questions are approvals of
 * calls or calls of the tool `ask`, notices (`at.emit(name, data)`) are parts `data-<name>`. Text that does not count because its node began anew is named
 * by a part `data-retracted`, whose data has the ids of the parts (`providerMetadata.runnel.part`) and of the calls. A failed run ends with `error`, a
 * cancelled one with `abort`. Several runs of one message, behind each other, make one message.
 *
 * Events of a runner (`runner.run(…)`) are one message, too, also of several turns, and end with the last one. What becomes of inputs is told as
 * `data-input-accepted` (transient), `data-input-delivered` with agent and round, and `data-input-dropped` with its reason.
 *
 * Memory: the arguments and results of open calls, and some ids. Errors: those of the source.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function toUiMessages(options: UiMessagesOptions = {}): OperatorFunction<RunEvent | TurnEvent, UiMessageChunk> {
  requireOptions('toUiMessages', options, OPTIONS);
  return (source) =>
    new Observable((subscriber) => {
      const projection = new TurnProjection(options);
      const tell = (chunks: readonly UiMessageChunk[]): void => {
        for (let at = 0; at < chunks.length; at += 1) subscriber.next(chunks[at] as UiMessageChunk);
      };
      return source.subscribe({
        next: (event) => tell(projection.project(event)),
        error: (error: unknown) => subscriber.error(error),
        complete: () => {
          tell(projection.end());
          subscriber.complete();
        },
      });
    });
}

const OPTIONS = ['plan', 'speaks', 'message', 'messageId', 'metadata', 'transient'];

/** The events of a conversation, also of several turns, as one message with one end; a fold, so it must be given the events from the first one. */
export class TurnProjection {
  readonly #projection: UiMessageProjection;
  #hasTurns = false;
  /** The end of a run, until it is known that no other one follows. */
  #finish: UiMessageChunk | undefined;

  constructor(options: UiMessagesOptions = {}) {
    this.#projection = new UiMessageProjection(options);
  }

  project(event: RunEvent | TurnEvent): readonly UiMessageChunk[] {
    switch (event.type) {
      case 'turn-started':
        this.#hasTurns = true;
        this.#finish = undefined;
        return [];
      case 'turn-ended':
        return [];
      case 'input-accepted':
        return [{ type: 'data-input-accepted', data: { id: event.id }, transient: true }];
      case 'input-delivered': {
        const { id, agent, round } = event;
        // At the beginning of a turn no work is interrupted: the input is the question.
        return round === 0 ? [] : [{ type: 'data-input-delivered', id, data: { id, agent, round } }];
      }
      case 'input-dropped':
        return [{ type: 'data-input-dropped', id: event.id, data: { id: event.id, reason: event.reason } }];
      default:
        return this.#ofRun(event);
    }
  }

  /** What follows the last event. */
  end(): readonly UiMessageChunk[] {
    return this.#finish === undefined ? [] : [this.#finish];
  }

  #ofRun(event: RunEvent): readonly UiMessageChunk[] {
    if (!this.#hasTurns) return this.#projection.project(event);
    const chunks = this.#projection.project(
      event.type === 'run-settled' ? { ...event, value: spokenBy(event.value) } : event,
    );
    const finish = chunks.find(({ type }) => type === 'finish');
    if (finish === undefined) return chunks;
    this.#finish = finish;
    return chunks.filter((chunk) => chunk !== finish);
  }
}

/** Of the result of a turn only its text is said, unless it was said as it came. */
export function spokenBy(value: unknown): string {
  const end = isJsonObject(value) && isJsonObject(value.end) ? value.end : undefined;
  return end?.type === 'answered' ? String(end.text) : '';
}
