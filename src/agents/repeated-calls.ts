/** Calls that a model makes again as it made them a round before: they are answered from there. */
import type { ToolContent } from '../compose/tools/step-tool.js';
import type { AgentState, PendingCall } from './agent-events.js';

/** Results of the newest round by what was called. */
export type ResultsBefore = ReadonlyMap<string, string>;

/** Results of the newest round of a conversation, without those of calls that failed or were declined. */
export function resultsBefore({ messages, failed = [] }: Pick<AgentState, 'messages' | 'failed'>): ResultsBefore {
  const at = messages.findLastIndex(({ role }) => role === 'assistant');
  const asked = messages[at];
  if (asked?.role !== 'assistant' || asked.toolCalls === undefined) return NOTHING;
  const texts = new Map<string, string>();
  for (const message of messages.slice(at + 1)) {
    if (message.role === 'tool') texts.set(message.toolCallId, message.content);
  }
  return new Map(
    asked.toolCalls.flatMap((call): [string, string][] => {
      const text = texts.get(call.id);
      return text === undefined || failed.includes(call.id) ? [] : [[signatureOf(call), text]];
    }),
  );
}

const NOTHING: ResultsBefore = new Map();

/** The result of a call that was made a round before, with a word to the model; undefined for any other call. */
export function repeatedResult(before: ResultsBefore, call: PendingCall): ToolContent | undefined {
  const known = before.get(signatureOf(call));
  if (known === undefined) return undefined;
  return { text: known.endsWith(SAME_CALL) ? known : `${known}\n${SAME_CALL}` };
}

function signatureOf({ name, arguments: text }: PendingCall): string {
  return `${name}\n${text}`;
}

/** Follows the result of a call that repeats the one before. */
export const SAME_CALL =
  '(This is the result of the same call as before. Calling it again gives nothing new; go on with what you have.)';
