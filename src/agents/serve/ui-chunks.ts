/** The events of a conversation as one message of the AI SDK's pages. */
import type { UiMessage } from '../../ui-messages/protocol.js';
import { TurnProjection } from '../../ui-messages/ui-message-stream.js';

/** Notices that say nothing once the conversation is over. */
const TRANSIENT: readonly string[] = ['tool-progress', 'tool-partial', 'agent-started', 'agent-ended', 'round-started'];

/** What a page is told of a session, in a new message or in one that goes on. */
export function uiChunks(session: string, message: UiMessage | undefined): TurnProjection {
  return new TurnProjection({
    metadata: { session },
    transient: TRANSIENT,
    ...(message !== undefined && { message }),
  });
}
