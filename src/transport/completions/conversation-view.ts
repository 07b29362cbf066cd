import { type EventFrame, wireOf } from '../../hosting/event-frame.js';
import type { JsonObject } from '../../json.js';
import { sseFrame } from '../http/event-stream.js';
import { traceOf } from '../runs/answer-run.js';

/** What chat clients of a prepared session see; RAGFlow spares them the rest. */
const SHOWN = new Set(['node_finished', 'message', 'message_end', 'user_inputs', 'error']);

/**
 * Shows a run as RAGFlow does on `/agents/chat/completions` in a session that was not made by a run: of `workflow_finished`
 * only the usage, and with `returnsTrace` each finished node with all that finished before it.
 */
export function conversationFrames(returnsTrace: boolean): (frame: EventFrame) => readonly string[] {
  const finished: JsonObject[] = [];
  return (frame) => {
    const { seq, event } = frame;
    if (event === 'workflow_finished') {
      const wire = wireOf(frame);
      return [reframed(seq, { ...wire, data: { usage: wire.data.usage ?? null } })];
    }
    if (event === 'node_finished' && returnsTrace) {
      const wire = wireOf(frame);
      finished.push(wire.data);
      return [reframed(seq, { ...wire, data: { ...wire.data, trace: traceOf(finished) } })];
    }
    return SHOWN.has(event) ? [sseFrame(frame)] : [];
  };
}

function reframed(seq: number, event: object): string {
  return sseFrame({ seq, json: JSON.stringify(event) });
}
