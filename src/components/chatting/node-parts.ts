/** What the parts of a Chat node share. */
import type { CallContext } from '../../agents/call-context.js';
import type { ChatSettings } from '../../chat/service/chat-settings.js';
import type { NodeEvent } from '../../graph/node-events.js';
import type { ChatParams } from './chat-params.js';
import type { ChatProgress } from './chat-progress.js';

/** One activation of a Chat. */
export interface ChatNode {
  readonly context: CallContext;
  readonly settings: ChatSettings;
  readonly params: ChatParams;
  readonly llmId: string;
  /** Tells the run of calls and tokens, as they come. */
  readonly report: (event: NodeEvent) => void;
  readonly progress: ChatProgress;
}
