import type { EventFrame } from '../../hosting/event-frame.js';
import type { JsonObject } from '../../json.js';
import { ragflowFrames, sseFrame } from '../http/event-stream.js';
import { traceOf } from '../runs/answer-run.js';

/**
 * Shows a run as RAGFlow does on `/agents/chat/completions` in a session that was not made by a run: finished nodes, messages, forms
 * and failures, of the end only the usage, and with `returnsTrace` each finished node with all that finished before it.
 */
export function conversationFrames(returnsTrace: boolean): (frame: EventFrame) => readonly string[] {
  const finished: JsonObject[] = [];
  const reframed = ({ seq, wire }: EventFrame, change: (data: JsonObject) => JsonObject): readonly string[] =>
    wire === undefined ? [] : [sseFrame(seq, JSON.stringify({ ...wire, data: change(wire.data) }))];
  return (frame) => {
    switch (frame.source.type) {
      case 'run-settled':
      case 'run-cancelled':
        return reframed(frame, ({ usage = null }) => ({ usage }));
      case 'node-settled':
      case 'node-failed':
        if (!returnsTrace) return ragflowFrames(frame);
        return reframed(frame, (data) => {
          finished.push(data);
          return { ...data, trace: traceOf(finished) };
        });
      case 'run-started':
      case 'node-started':
        return [];
      default:
        return ragflowFrames(frame);
    }
  };
}
