/** The loop of a model and its tools, as one stream of events. */
import { concat, concatMap, defer, type Observable, of } from 'rxjs';
import type { ChatDelta, ChatRequest, ToolDefinition } from '../models/chat-model.js';
import { concatMessages, messageOf } from '../models/concat-messages.js';
import type { AssistantChunk, AssistantMessage } from '../models/messages.js';
import { toMessageChunks } from '../models/to-message-chunks.js';
import { requireList, requireObject } from '../operators/invalid-option.js';
import type { AgentAnswer, AgentEvent, AgentState } from './agent-events.js';
import type { AgentTool } from './agent-tool.js';
import { type Approval, needsApproval } from './approvals.js';
import type { Chat } from './chat.js';
import {
  afterAnswer,
  callsMade,
  millisecondsRule,
  partsMade,
  type RoundFacts,
  type RoundRule,
  requestMessages,
  spentReason,
  tokensRule,
} from './round.js';
import { type Caller, callsOfRound } from './round-calls.js';
import { RoundResults } from './round-results.js';

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

type Pending = NonNullable<AgentState['pending']>;

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
 * million characters, the model is called once more without tools. After an empty answer it is called once more. Messages keep all their
 * parts: images of questions, and thoughts beside calls with what proves them. Calls that need an approval end the stream with `approval`;
 * run it again from that state with `approvals`. Unsubscribing closes the model's connection and every call. Errors: those of the model; a
 * tool's failure is text for the model.
 */
export function runAgent(setup: AgentSetup, state: AgentState): Observable<AgentEvent> {
  requireObject('runAgent', 'setup', setup, 'an object with the chat and the tools');
  requireList('runAgent', 'tools', setup.tools, 'a list of tools');
  requireList('runAgent', 'state', state?.messages, 'what newAgentState(…) gives');
  const running: Running = { ...setup, concurrency: setup.concurrency ?? 8 };
  const { pending } = state;
  return pending === undefined ? nextRound(running, state) : makeCalls(running, state, pending, setup.approvals);
}

function nextRound(setup: Running, state: AgentState, isRetry = false): Observable<AgentEvent> {
  return defer(() => {
    const spent = setup.tools.length === 0 ? undefined : spentReason(rulesOf(setup), factsOf(state));
    const tools = spent === undefined ? setup.tools.map(({ definition }) => definition) : [];
    const startedAt = setup.now();
    const chunks: AssistantChunk[] = [{ role: 'assistant' }];
    const id = `${setup.idPrefix}${state.round}.${isRetry ? 'n' : 'm'}`;
    const { chat, parent } = setup;
    const request = withTools(chat.request(requestMessages(state.messages, spent)), tools);
    return concat(
      chat.ask(request, (answer$) => eventsOf(answer$, chunks), { id, parent }),
      defer(() => {
        const answer = messageOf(concatMessages(chunks));
        const elapsedMs = state.elapsedMs + (setup.now() - startedAt);
        const after: AgentState = { ...state, tokens: state.tokens + (answer.usage?.totalTokens ?? 0), elapsedMs };
        switch (afterAnswer(answer, { mayCall: spent === undefined, isRetry })) {
          case 'calls':
            return afterCalls(setup, after, pendingOf(answer));
          case 'again':
            return nextRound(setup, after, true);
          case 'answer':
            return of(answerOf(after, answer));
        }
      }),
    );
  });
}

/** A request that offers tools. */
function withTools(request: ChatRequest, tools: readonly ToolDefinition[]): ChatRequest {
  return tools.length === 0 ? request : { ...request, tools, toolChoice: 'auto' };
}

/** The events of an answer, whose chunks are kept. */
function eventsOf(answer$: Observable<ChatDelta>, chunks: AssistantChunk[]): Observable<AgentEvent> {
  return answer$.pipe(
    toMessageChunks(),
    concatMap((chunk) => {
      chunks.push(chunk);
      return chunkEvents(chunk);
    }),
  );
}

function chunkEvents({ content, reasoning, usage }: AssistantChunk): readonly AgentEvent[] {
  if (content !== undefined) return [{ type: 'text', text: content }];
  if (reasoning !== undefined) return [{ type: 'thinking', text: reasoning }];
  if (usage === undefined) return [];
  const { promptTokens, completionTokens, totalTokens } = usage;
  return [{ type: 'usage', promptTokens, completionTokens, totalTokens }];
}

/** The calls of an answer that are made, and what goes back to the model with their results. */
function pendingOf(answer: AssistantMessage): Pending {
  const { content: text, parts } = answer;
  return { text, calls: callsMade(answer), ...(parts && { parts: partsMade(parts) }) };
}

/** When no further tool may be called. */
function rulesOf({ maxRounds, budget = {} }: AgentSetup): readonly RoundRule[] {
  const { tokens, ms } = budget;
  const rules: RoundRule[] = [({ round }) => (round > maxRounds ? `Exceed max rounds: ${maxRounds}.` : undefined)];
  if (tokens !== undefined) rules.push(tokensRule(tokens));
  if (ms !== undefined) rules.push(millisecondsRule(ms));
  return rules;
}

function factsOf({ messages, round, tokens, elapsedMs }: AgentState): RoundFacts {
  return { messages, round, usage: { totalTokens: tokens }, elapsedMs };
}

/** Makes the calls, unless some of them need an approval first. */
function afterCalls(setup: Running, state: AgentState, pending: Pending): Observable<AgentEvent> {
  const waiting = pending.calls.filter(({ name }) => needsApproval(setup.tools, name));
  if (waiting.length === 0) return makeCalls(setup, state, pending);
  const paused: AgentState = { ...state, pending };
  return of({ type: 'approval', state: paused, calls: waiting });
}

function makeCalls(
  setup: Running,
  state: AgentState,
  pending: Pending,
  approvals: ReadonlyMap<string, Approval> = new Map(),
): Observable<AgentEvent> {
  return defer(() => {
    const startedAt = setup.now();
    const { pending: _, inner: __, ...before } = state;
    const { text, calls, parts } = pending;
    const results = new RoundResults(state);
    return concat(
      callsOfRound(setup, { calls, state: { ...before, pending }, approvals, results }),
      defer(() => {
        const after: AgentState = {
          ...before,
          messages: [
            ...state.messages,
            { role: 'assistant', content: text, toolCalls: calls, ...(parts && { parts }) },
            ...results.messages(calls),
          ],
          round: state.round + 1,
          elapsedMs: state.elapsedMs + (setup.now() - startedAt),
          references: results.references,
          artifacts: [...state.artifacts, ...results.artifacts],
          failed: results.failed,
        };
        const { terminal } = results;
        if (terminal !== undefined) {
          return of<AgentEvent[]>(
            { type: 'text', text: terminal },
            answerOf(after, { content: terminal, finishReason: 'stop' }),
          );
        }
        return concat(of<AgentEvent>({ type: 'state', state: after }), nextRound(setup, after));
      }),
    );
  });
}

function answerOf(
  state: AgentState,
  { content: text, parts, finishReason = 'unknown' }: Pick<AssistantMessage, 'content' | 'parts' | 'finishReason'>,
): AgentAnswer {
  const { references, artifacts } = state;
  return { type: 'answer', text, ...(parts && { parts }), state, references, artifacts, finishReason };
}
