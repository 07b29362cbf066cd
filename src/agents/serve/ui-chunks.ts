/** The events of a conversation as one message of the AI SDK's pages. */
import { isJsonObject } from '../../json.js';
import type { UiMessage, UiMessageChunk } from '../../ui-messages/protocol.js';
import { UiMessageProjection } from '../../ui-messages/to-ui-messages.js';
import type { AgentEnd } from '../loop/agent-end.js';
import type { RunnerEvent } from '../runner/runner-events.js';

/** Notices that say nothing once the conversation is over. */
const TRANSIENT: readonly string[] = ['tool-progress', 'tool-partial', 'agent-started', 'agent-ended', 'round-started'];

/**
 * Projects the events of a runner; a fold from the first one on. Several turns of one conversation, which inputs opened, are one message with one end.
 * What becomes of inputs is told as `data-input-accepted` (transient), `data-input-delivered` and `data-input-dropped`.
 */
export class UiChunks {
  readonly #projection: UiMessageProjection;
  /** The end of a run, until it is known that no other one follows. */
  #finish: UiMessageChunk | undefined;

  constructor(session: string, message: UiMessage | undefined) {
    this.#projection = new UiMessageProjection({
      metadata: { session },
      transient: TRANSIENT,
      ...(message !== undefined && { message }),
    });
  }

  project(event: RunnerEvent): readonly UiMessageChunk[] {
    switch (event.type) {
      case 'turn-started':
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
        break;
    }
    // Of a turn only its text is said, unless it was said as it came.
    const told = event.type === 'run-settled' ? { ...event, value: textOf(event.value) } : event;
    const chunks = this.#projection.project(told as typeof event);
    const finish = chunks.find(({ type }) => type === 'finish');
    if (finish === undefined) return chunks;
    this.#finish = finish;
    return chunks.filter((chunk) => chunk !== finish);
  }

  /** What follows the last event. */
  end(): readonly UiMessageChunk[] {
    return this.#finish === undefined ? [] : [this.#finish];
  }
}

function textOf(value: unknown): string {
  const end = isJsonObject(value) && isJsonObject(value.end) ? (value.end as unknown as AgentEnd) : undefined;
  return end?.type === 'answered' ? end.text : '';
}
