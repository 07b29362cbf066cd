/** The loop of a model and its tools, as one stream of events. */
import { concat, concatMap, defer, type Observable, of } from 'rxjs';
import type { Usage } from '../graph/node-events.js';
import {
  type ChatDelta,
  type ChatMessage,
  type ChatRequest,
  contentText,
  type ToolDefinition,
} from '../models/chat-model.js';
import type { AgentAnswer, AgentEvent, AgentState, PendingCall } from './agent-events.js';
import type { AgentTool } from './agent-tool.js';
import type { Chat } from './chat.js';
import { type Approval, type Caller, outOfBudget, type RoundResults, runCalls } from './run-calls.js';

/** What an agent may spend; what is absent has no bound but the rounds. */
export interface AgentBudget {
  /** Tokens of all its model calls. */
  readonly tokens?: number;
  /** Milliseconds of running time. */
  readonly ms?: number;
}

/** An agent, ready to run. */
export interface AgentSetup extends Omit<Caller, 'concurrency'> {
  readonly chat: Pick<Chat, 'request' | 'ask'>;
  readonly tools: readonly AgentTool[];
  /** Rounds of tool calls after the first; then the model is called once more without tools. */
  readonly maxRounds: number;
  readonly budget?: AgentBudget;
  /** Tool calls at once. @default 8 */
  readonly concurrency?: number;
  /** Decisions about the pending calls of the state, by id of the call. */
  readonly approvals?: ReadonlyMap<string, Approval>;
}

/** An agent that runs, with its defaults. */
type Running = AgentSetup & Caller;

/** Tool calls that are made of one answer; further ones are dropped. */
const MAX_CALLS = 64;

/** Characters of a conversation after which no further tool is called: it is stored whole after every round. */
const MAX_CONVERSATION = 4_000_000;

/**
 * Calls the model, makes the tool calls of its answer, sends it their results, and repeats until an answer has no calls.
 *
 * ```text
 * model     --t--c|          --t--t|       (text, tool call)
 * tool             --p--e|                 (progress, ended)
 * result    --t--b--p--eM----t--t-(A|)     (text, began, progress, ended, state, answer)
 * ```
 *
 * Text is live, also before a call. After `maxRounds + 1` rounds of calls, when the budget is spent, or when the conversation has 4
 * million characters, the model is called once more without tools. After an empty answer it is called once more. Calls that need an
 * approval end the stream with `approval`; run it again from that state with `approvals`. Unsubscribing closes the model's connection
 * and every call. Errors: those of the model; a tool's failure is text for the model.
 */
export function runAgent(setup: AgentSetup, state: AgentState): Observable<AgentEvent> {
  const running: Running = { ...setup, concurrency: setup.concurrency ?? 8 };
  const { pending } = state;
  return pending === undefined ? nextRound(running, state) : makeCalls(running, state, pending, setup.approvals);
}

function nextRound(setup: Running, state: AgentState, isRetry = false): Observable<AgentEvent> {
  return defer(() => {
    const spent = spentReason(setup, state);
    const tools = spent === undefined ? setup.tools.map(({ definition }) => definition) : [];
    const note: ChatMessage[] = spent === undefined ? [] : [{ role: 'user', content: outOfBudget(spent) }];
    const startedAt = setup.now();
    const draft: Draft = { text: '', calls: [], usage: undefined, finishReason: 'unknown' };
    const id = `${setup.idPrefix}${state.round}.${isRetry ? 'n' : 'm'}`;
    const { chat, parent } = setup;
    const request = withTools(chat.request([...state.messages, ...note]), tools);
    return concat(
      chat.ask(request, (answer$) => answer$.pipe(concatMap((piece) => take(piece, draft))), { id, parent }),
      defer(() => {
        const elapsedMs = state.elapsedMs + (setup.now() - startedAt);
        const after: AgentState = { ...state, tokens: state.tokens + (draft.usage?.totalTokens ?? 0), elapsedMs };
        if (draft.calls.length > 0 && spent === undefined) return afterCalls(setup, after, draft);
        if (draft.text.trim() === '' && !isRetry) return nextRound(setup, after, true);
        return of(answerOf(after, draft.text, draft.finishReason));
      }),
    );
  });
}

/** A request that offers tools. */
function withTools(request: ChatRequest, tools: readonly ToolDefinition[]): ChatRequest {
  return tools.length === 0 ? request : { ...request, tools, toolChoice: 'auto' };
}

/** The answer of one model call, filled while its events pass. */
interface Draft {
  text: string;
  readonly calls: PendingCall[];
  usage: Omit<Usage, 'type'> | undefined;
  finishReason: string;
}

/** Adds a piece of the answer to the draft; gives the events for it. */
function take(piece: ChatDelta, draft: Draft): readonly AgentEvent[] {
  switch (piece.type) {
    case 'text':
      draft.text += piece.text;
      return [piece];
    case 'thinking':
      return [piece];
    case 'tool-call': {
      const { id, name, arguments: args } = piece;
      if (draft.calls.length < MAX_CALLS) draft.calls.push({ id, name, arguments: args });
      return [];
    }
    case 'usage': {
      const { promptTokens, completionTokens, totalTokens } = piece;
      draft.usage = { promptTokens, completionTokens, totalTokens };
      return [{ type: 'usage', ...draft.usage }];
    }
    case 'finish':
      draft.finishReason = piece.reason;
      return [];
    default:
      return [];
  }
}

/** Why no further tool may be called. */
function spentReason({ tools, maxRounds, budget = {} }: AgentSetup, state: AgentState): string | undefined {
  if (tools.length === 0) return undefined;
  if (state.round > maxRounds) return `Exceed max rounds: ${maxRounds}.`;
  if (budget.tokens !== undefined && state.tokens >= budget.tokens)
    return `The budget of ${budget.tokens} tokens is spent.`;
  if (budget.ms !== undefined && state.elapsedMs >= budget.ms)
    return `The budget of ${budget.ms / 1000} seconds is spent.`;
  if (lengthOf(state) > MAX_CONVERSATION) return 'The conversation with the tools has become too long.';
  return undefined;
}

/** Characters of the conversation, calls included. */
function lengthOf({ messages }: AgentState): number {
  return messages.reduce((length, message) => {
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
    const asked = calls.reduce((sum, call) => sum + call.arguments.length, 0);
    return length + asked + contentText(message.content).length;
  }, 0);
}

/** Makes the calls, unless some of them need an approval first. */
function afterCalls(setup: Running, state: AgentState, draft: Draft): Observable<AgentEvent> {
  const waiting = draft.calls.filter(({ name }) => needsApproval(setup.tools, name));
  if (waiting.length === 0) return makeCalls(setup, state, draft);
  const paused: AgentState = { ...state, pending: { text: draft.text, calls: draft.calls } };
  return of({ type: 'approval', state: paused, calls: waiting });
}

/** Whether calls of a tool, by the name that the model has for it, need an approval. */
export function needsApproval(tools: readonly AgentTool[], name: string): boolean {
  return tools.some((tool) => tool.definition.name === name && tool.needsApproval);
}

function makeCalls(
  setup: Running,
  state: AgentState,
  { text, calls }: NonNullable<AgentState['pending']>,
  approvals: ReadonlyMap<string, Approval> = new Map(),
): Observable<AgentEvent> {
  return defer(() => {
    const startedAt = setup.now();
    const { pending: _, inner = [], ...before } = state;
    const results: RoundResults = {
      texts: [],
      failed: [],
      references: state.references,
      artifacts: [],
      inner: new Map(inner.map((stood) => [stood.at, stood.state])),
      terminal: undefined,
    };
    return concat(
      runCalls(setup, calls, { ...before, pending: { text, calls } }, results, approvals),
      defer(() => {
        const after: AgentState = {
          ...before,
          messages: [
            ...state.messages,
            { role: 'assistant', content: text, toolCalls: calls },
            ...toolMessages(calls, results),
          ],
          round: state.round + 1,
          elapsedMs: state.elapsedMs + (setup.now() - startedAt),
          references: results.references,
          artifacts: [...state.artifacts, ...results.artifacts],
          failed: results.failed,
        };
        const { terminal } = results;
        if (terminal !== undefined) {
          return of<AgentEvent[]>({ type: 'text', text: terminal }, answerOf(after, terminal, 'stop'));
        }
        return concat(of<AgentEvent>({ type: 'state', state: after }), nextRound(setup, after));
      }),
    );
  });
}

function toolMessages(calls: readonly PendingCall[], { texts }: RoundResults): ChatMessage[] {
  return calls.map(({ id }, index) => ({ role: 'tool', toolCallId: id, content: texts[index] ?? '' }));
}

function answerOf(state: AgentState, text: string, finishReason: string): AgentAnswer {
  const { references, artifacts } = state;
  return { type: 'answer', text, state, references, artifacts, finishReason };
}
