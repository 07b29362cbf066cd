/** Models that answer as a test says, and keep what they were asked. */
import { concat, defer, type Observable, of } from 'rxjs';
import { z } from 'zod';
import { type ChatDelta, type ChatModel, type ChatRequest, defineTool, type StepTool } from '../../../src/index.js';

/** One answer: text, calls, an error, or any stream of pieces. */
export type Reply =
  | string
  | {
      readonly text?: string;
      readonly calls: readonly { readonly name: string; readonly arguments?: unknown; readonly id?: string }[];
    }
  | Error
  | Observable<ChatDelta>;

/** A model whose nth call gives the nth reply; the last one stays. */
export interface RepliesModel extends ChatModel {
  readonly requests: ChatRequest[];
}

export function replies(...list: readonly Reply[]): RepliesModel {
  const requests: ChatRequest[] = [];
  return {
    requests,
    chat: (request) =>
      defer(() => {
        requests.push(request);
        return answerOf(list[Math.min(requests.length, list.length) - 1] as Reply, requests.length);
      }),
  };
}

function answerOf(reply: Reply, call: number): Observable<ChatDelta> {
  if (reply instanceof Error) throw reply;
  if (typeof reply === 'string') return concat(of({ type: 'text', text: reply } as ChatDelta), finish('stop'));
  if (!('calls' in reply)) return reply;
  const { text, calls } = reply;
  const pieces: ChatDelta[] = text === undefined ? [] : [{ type: 'text', text }];
  calls.forEach(({ name, arguments: args = {}, id = `c${call}_${pieces.length}` }, index) => {
    pieces.push({ type: 'tool-call', index, id, name, arguments: JSON.stringify(args) });
  });
  return concat(of(...pieces), finish('tool_calls'));
}

function finish(reason: string): Observable<ChatDelta> {
  return of<ChatDelta[]>(
    { type: 'usage', promptTokens: 1, completionTokens: 1, totalTokens: 2 },
    { type: 'finish', reason },
  );
}

/** A tool that says what it was called with. */
export function echo(name = 'echo'): StepTool & { readonly calls: string[] } {
  const calls: string[] = [];
  const tool = defineTool({
    name,
    description: 'Says it again.',
    input: z.object({ text: z.string() }),
    run: ({ text }) => {
      calls.push(text);
      return `echo ${text}`;
    },
  });
  return { ...tool, calls };
}

/** A call of {@link echo}. */
export function say(
  text: string,
  name = 'echo',
): { readonly name: string; readonly arguments: { readonly text: string } } {
  return { name, arguments: { text } };
}

/** Roles and texts of a conversation, short. */
export function talk(messages: ChatRequest['messages']): string[] {
  return messages.map((message) => {
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
    const asked = calls.length === 0 ? '' : ` [${calls.map(({ name }) => name).join(', ')}]`;
    return `${message.role}: ${typeof message.content === 'string' ? message.content : 'parts'}${asked}`;
  });
}
