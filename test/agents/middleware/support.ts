/** What tests of middlewares share: a model that remembers what it was asked, and runs that wait and go on over JSON. */
import { from } from 'rxjs';
import type { Agent } from '../../../src/agents/loop/agent-end.js';
import type { AgentInput } from '../../../src/agents/loop/agent-input.js';
import { EngineError, invoke, type Question, resumeFrom } from '../../../src/index.js';
import type { ChatDelta, ChatModel, ChatRequest } from '../../../src/models/chat-model.js';

/** An answer: text, or the calls of tools with their arguments, each with the id `c1`, `c2` …, or an id of its own. */
export type Reply = string | readonly { readonly tool: string; readonly args?: object; readonly id?: string }[];

/** A model that gives these answers in turn, the last one again and again, and keeps every request. */
export interface RecordingModel extends ChatModel {
  readonly requests: readonly ChatRequest[];
}

/** Makes a {@link RecordingModel}; each answer costs 10 tokens. */
export function recordingModel(...replies: readonly Reply[]): RecordingModel {
  const requests: ChatRequest[] = [];
  return {
    requests,
    chat(request) {
      const { ready: _, ...asked } = request;
      const reply = replies[Math.min(requests.length, replies.length - 1)] ?? '';
      requests.push(asked);
      return from([...deltasOf(reply), USAGE, { type: 'finish', reason: 'stop' } as const]);
    },
  };
}

const USAGE: ChatDelta = { type: 'usage', promptTokens: 7, completionTokens: 3, totalTokens: 10 };

function deltasOf(reply: Reply): ChatDelta[] {
  if (typeof reply === 'string') return [{ type: 'text', text: reply }];
  return reply.map(({ tool, args = {}, id }, index) => ({
    type: 'tool-call',
    index,
    id: id ?? `c${index + 1}`,
    name: tool,
    arguments: JSON.stringify(args),
  }));
}

/** What a run came to. */
export type Attempt =
  | { readonly type: 'done'; readonly value: unknown }
  | { readonly type: 'asks'; readonly questions: readonly Question[]; readonly stored: string };

/** Runs an agent until it ends or asks; what it then stands at is JSON. */
export async function attempt(agent: Agent, input: AgentInput | ReturnType<typeof resumeFrom>): Promise<Attempt> {
  try {
    return { type: 'done', value: await invoke(agent, input) };
  } catch (error) {
    if (!EngineError.is(error) || error.code !== 'RUN_INTERRUPTED') throw error;
    const { questions, checkpoint } = error.details as { questions: readonly Question[]; checkpoint: unknown };
    return { type: 'asks', questions, stored: JSON.stringify(checkpoint) };
  }
}

/** Goes on in an agent made anew, with answers by address. */
export function goOn(agent: Agent, from: Attempt, answers: Readonly<Record<string, unknown>>): Promise<Attempt> {
  if (from.type !== 'asks') throw new Error(`The run had ended with ${JSON.stringify(from.value)}.`);
  return attempt(agent, resumeFrom(JSON.parse(from.stored), answers));
}

/** The messages of a request, as short texts: `role: text`. */
export function told({ messages }: ChatRequest): string[] {
  return messages.map(
    ({ role, content }) => `${role}: ${typeof content === 'string' ? content : JSON.stringify(content)}`,
  );
}
