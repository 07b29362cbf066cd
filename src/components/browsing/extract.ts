import type { Observable } from 'rxjs';
import type { PageView } from '../../adapters/browser/index.js';
import type { NodeEvent } from '../../graph/node-events.js';
import type { JsonObject } from '../../json.js';
import { cutToTokens } from '../../models/estimate-tokens.js';
import type { Chat } from '../chat/open-chat.js';
import { askForObject } from '../chat/structured-answer.js';
import { extractionPrompt, pageText } from '../prompts/browsing.js';
import { structuredPrompt } from '../prompts/structured.js';

/** Tokens of a page that are read, and the share of a known context length that they may take. */
const MAX_TOKENS = 100_000;
const SHARE = 0.7;

/** What to read. */
export interface Extraction {
  readonly node: string;
  readonly chat: Chat;
  /** Tells its calls of the model from others of the activation. */
  readonly id: string;
  readonly view: PageView;
  readonly instruction: string;
  readonly schema: JsonObject;
  readonly maxRetries: number;
}

/** Asks the model for data of a page; settles with it as `structured`. Errors: as `askForObject`. */
export function extract({ node, chat, id, view, instruction, schema, maxRetries }: Extraction): Observable<NodeEvent> {
  const { contextLength = Number.POSITIVE_INFINITY } = chat;
  const named: Pick<Chat, 'ask'> = { ask: (request, read, own = '') => chat.ask(request, read, `${id}-${own}`) };
  const snapshot = cutToTokens(view.snapshot, Math.floor(Math.min(MAX_TOKENS, contextLength * SHARE)));
  const request = chat.request([
    { role: 'system', content: `${extractionPrompt()}\n\n${structuredPrompt(schema)}` },
    { role: 'user', content: `${pageText({ ...view, notes: [] }, snapshot)}\n\nRead from it: ${instruction}` },
  ]);
  return askForObject({ node, chat: named, request, maxRetries });
}
