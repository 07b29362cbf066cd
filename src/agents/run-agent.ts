/** The loop of a model and its tools, as one stream. */
import { concat, defer, from, type Observable, of } from 'rxjs';
import { type ChatMessage, contentText } from '../models/chat-model.js';
import type { AgentAnswer, AgentEvent, AgentState, PendingCall } from './agent-events.js';
import type { AgentTool } from './agent-tool.js';
import { type Asking, askModel, type Draft, newDraft } from './ask-model.js';
import { type Approval, type Caller, outOfBudget, type RoundResults, runCalls } from './run-calls.js';

/** What an agent may spend; what is absent has no bound but the rounds. */
export interface AgentBudget {
  /** Tokens of all its model calls. */
  readonly tokens?: number;
  /** Milliseconds at work. */
  readonly ms?: number;
}

/** An agent, ready to run. */
export interface AgentSetup extends Omit<Caller, 'concurrency'>, Asking {
  readonly tools: readonly AgentTool[];
  /** Rounds of tool calls beside the first; then the model is asked once more without tools. */
  readonly maxRounds: number;
  readonly budget?: AgentBudget;
  /** Tool calls at once. @default 8 */
  readonly concurrency?: number;
  /** What people said about the calls that the state waits with, by id of the call. */
  readonly approvals?: ReadonlyMap<string, Approval>;
}

/** Characters of a conversation after which no further tool is called: it is kept whole after every round. */
const MAX_CONVERSATION = 4_000_000;

/**
 * Asks the model, makes the calls it asks for, shows it their results, and so on until it answers.
 *
 * ```text
 * model     --t--c|          --t--t|       (text, tool call)
 * tool             --p--e|                 (progress, ended)
 * result    --t--b--p--eM----t--t-(A|)     (text, began, progress, ended, mark, answer)
 * ```
 *
 * Text comes live, also that before a call. After `maxRounds + 1` rounds of calls, when the budget is spent or the conversation has 4 million
 * characters, the model is asked once more without tools. An empty answer is asked for once more. Calls that need approval end the stream with `approval`; run it
 * again from that state with `approvals`. Errors: those of the model; a tool's failure is text for the model. Unsubscribing
 * closes the model's connection and every call.
 */
export function runAgent(setup: AgentSetup, state: AgentState): Observable<AgentEvent> {
  const caller: Caller = { ...setup, concurrency: setup.concurrency ?? 8 };
  const { pending } = state;
  if (pending === undefined) return nextRound(setup, caller, state);
  return makeCalls(setup, caller, state, pending, setup.approvals);
}

function nextRound(setup: AgentSetup, caller: Caller, state: AgentState, isRetry = false): Observable<AgentEvent> {
  return defer(() => {
    const spent = spentReason(setup, state);
    const tools = spent === undefined ? setup.tools.map(({ definition }) => definition) : [];
    const note: ChatMessage[] = spent === undefined ? [] : [{ role: 'user', content: outOfBudget(spent) }];
    const startedAt = setup.now();
    const draft = newDraft();
    const id = `${setup.idPrefix}${state.round}.${isRetry ? 'n' : 'm'}`;
    return concat(
      askModel(setup, id, [...state.messages, ...note], tools, draft),
      defer(() => {
        const elapsedMs = state.elapsedMs + (setup.now() - startedAt);
        const after: AgentState = { ...state, tokens: state.tokens + (draft.usage?.totalTokens ?? 0), elapsedMs };
        if (draft.calls.length > 0 && spent === undefined) return afterCalls(setup, caller, after, draft);
        if (draft.text.trim() === '' && !isRetry) return nextRound(setup, caller, after, true);
        return of(answerOf(after, draft.text, draft.finishReason));
      }),
    );
  });
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

/** Characters of everything that was said, calls included. */
function lengthOf({ messages }: AgentState): number {
  return messages.reduce((length, message) => {
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
    const asked = calls.reduce((sum, call) => sum + call.arguments.length, 0);
    return length + asked + contentText(message.content).length;
  }, 0);
}

/** Makes the calls, unless somebody must allow them first. */
function afterCalls(setup: AgentSetup, caller: Caller, state: AgentState, draft: Draft): Observable<AgentEvent> {
  const waiting = draft.calls.filter(({ name }) => needsApproval(setup.tools, name));
  if (waiting.length === 0) return makeCalls(setup, caller, state, draft);
  const paused: AgentState = { ...state, pending: { text: draft.text, calls: draft.calls } };
  return of({ type: 'approval', state: paused, calls: waiting });
}

function needsApproval(tools: readonly AgentTool[], name: string): boolean {
  return tools.some((tool) => tool.definition.name === name && tool.needsApproval);
}

function makeCalls(
  setup: AgentSetup,
  caller: Caller,
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
      runCalls(caller, calls, { ...before, pending: { text, calls } }, results, approvals),
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
        if (results.terminal !== undefined) return from(terminalEvents(after, results.terminal));
        return concat(of<AgentEvent>({ type: 'mark', state: after }), nextRound(setup, caller, after));
      }),
    );
  });
}

function toolMessages(calls: readonly PendingCall[], { texts }: RoundResults): ChatMessage[] {
  return calls.map(({ id }, index) => ({ role: 'tool', toolCallId: id, content: texts[index] ?? '' }));
}

function terminalEvents(state: AgentState, text: string): AgentEvent[] {
  return [{ type: 'text', text }, answerOf(state, text, 'stop')];
}

function answerOf(state: AgentState, text: string, finishReason: string): AgentAnswer {
  const { references, artifacts } = state;
  return { type: 'answer', text, state, references, artifacts, finishReason };
}
