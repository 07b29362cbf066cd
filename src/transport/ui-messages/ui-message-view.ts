import type { RagflowProjection } from '../../canvas/ragflow-events.js';
import type { UiMessageChunk } from '../../ui-messages/protocol.js';
import { UiMessageProjection, type UiMessagesOptions } from '../../ui-messages/to-ui-messages.js';
import type { RunView } from '../runs/answer-run.js';

/** The events of a run, and of those before it in the same message, in the framing of the AI SDK's pages. */
export function uiMessageView(
  run: string,
  options: Pick<UiMessagesOptions, 'message' | 'messageId' | 'metadata'>,
): RunView {
  let projection: RagflowProjection | undefined;
  const chunks = new UiMessageProjection({ ...options, speaks: ({ node }) => projection?.speaks(node) !== false });
  return {
    frames: (frame) => {
      projection = frame.projection;
      const { source } = frame;
      // A message that goes on has one end.
      return chunks
        .project(source)
        .flatMap((chunk) => (chunk.type === 'finish' && source.run !== run ? [] : [sseOf(chunk)]));
    },
    closing: () => ['data: [DONE]\n\n'],
  };
}

function sseOf(chunk: UiMessageChunk): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
