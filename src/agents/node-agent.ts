/** What the agent of a node has beside its loop: where it stands, how its model is asked and its tools are called, and what it tells of all that. */
import { concat, concatMap, defer, ignoreElements, type Observable, of, tap } from 'rxjs';
import { type ChatRequest, contentText } from '../models/chat-model.js';
import { concatMessages, messageOf } from '../models/concat-messages.js';
import type { AssistantChunk, AssistantMessage, ChatMessage, ToolMessage } from '../models/messages.js';
import { toMessageChunks } from '../models/to-message-chunks.js';
import type { AgentAnswer, AgentEvent, AgentState, PendingCall } from './agent-events.js';
import type { AgentSetup } from './agent-setup.js';
import { type Approval, needsApproval } from './approvals.js';
import type { InputReader, NodeInput } from './node-inputs.js';
import { afterAnswer, millisecondsRule, type RoundRule, spentReason, tokensRule } from './round.js';
import { callsOfRound } from './round-calls.js';
import { RoundResults } from './round-results.js';

/** What the loop knows of itself: its conversation, and milliseconds of work since it began. */
export interface LoopFacts {
  readonly messages: readonly ChatMessage[];
  readonly elapsedMs: number;
}

/** An agent of a node at work. The loop asks it at each of its steps (`node-loop.ts`), in their order. */
export class NodeAgent implements InputReader {
  readonly #setup: AgentSetup;
  readonly #tell: (event: AgentEvent) => void;
  readonly #rules: readonly RoundRule[];
  /** Milliseconds of work before the loop began. */
  readonly #elapsedBefore: number;
  /** The state without the newest answer, as long as that has calls without results. */
  #state: AgentState;
  /** An answer that a stored state waits with; its model is not asked for it again. */
  #stored: AgentState['pending'];
  #approvals: ReadonlyMap<string, Approval> = NO_APPROVALS;
  #results: RoundResults;
  #newest: AssistantMessage = { role: 'assistant', content: '' };
  #mayCall = true;
  #failure: unknown;

  constructor(setup: AgentSetup, state: AgentState, tell: (event: AgentEvent) => void) {
    const { pending, inner: _, ...before } = state;
    this.#setup = setup;
    this.#tell = tell;
    this.#rules = rulesOf(setup);
    this.#elapsedBefore = state.elapsedMs;
    this.#state = before;
    this.#stored = pending;
    this.#results = new RoundResults(state);
  }

  /** The conversation as it is stored. */
  get messages(): readonly ChatMessage[] {
    return this.#state.messages;
  }

  /** Whether it begins with an answer that its model gave before. */
  get hasStoredAnswer(): boolean {
    return this.#stored !== undefined;
  }

  /** What its model failed with; undefined when it did not. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Why no further tool may be called. */
  spent({ messages, elapsedMs }: LoopFacts): string | undefined {
    // What a stored answer asks for was allowed when it came.
    if (this.#stored !== undefined || this.#setup.tools.length === 0) return undefined;
    const { round, tokens: totalTokens } = this.#state;
    const facts = { messages, round, usage: { totalTokens }, elapsedMs: this.#elapsedBefore + elapsedMs };
    const reason = spentReason(this.#rules, facts);
    this.#mayCall = reason === undefined;
    return reason;
  }

  /** Tells that an input has joined the conversation. */
  heard({ id, content }: NodeInput, round: number): void {
    this.#tell({ type: 'input-delivered', id, content: contentText(content), round });
  }

  /** Asks the model, and once more when it says nothing; tells its text as it comes, and gives its whole answer. */
  ask(messages: readonly ChatMessage[], isRetry = false): Observable<AssistantMessage> {
    return defer(() => {
      const stored = this.#stored;
      if (stored !== undefined) return of(storedAnswer(stored));
      const chunks: AssistantChunk[] = [{ role: 'assistant' }];
      return concat(
        this.#tellAnswer(messages, `${this.#state.round}.${isRetry ? 'n' : 'm'}`, chunks),
        defer(() => {
          const answer = messageOf(concatMessages(chunks));
          this.#newest = answer;
          this.#state = { ...this.#state, tokens: this.#state.tokens + (answer.usage?.totalTokens ?? 0) };
          const next = afterAnswer(answer, { mayCall: this.#mayCall, isRetry });
          return next === 'again' ? this.ask(messages, true) : of(plain(answer));
        }),
      );
    });
  }

  /** Looks at an answer; gives whether the agent waits for approvals of its calls, which it then has told. */
  review(
    { content: text, toolCalls: calls = [], parts }: AssistantMessage,
    { messages, elapsedMs }: LoopFacts,
  ): boolean {
    this.#state = { ...this.#state, messages, elapsedMs: this.#elapsedBefore + elapsedMs };
    const { tools, approvals = NO_APPROVALS } = this.#setup;
    const isStored = this.#stored !== undefined;
    this.#stored = undefined;
    this.#approvals = isStored ? approvals : NO_APPROVALS;
    const waiting = isStored ? [] : calls.filter(({ name }) => needsApproval(tools, name));
    if (waiting.length === 0) return false;
    const pending = { text, calls, ...(parts && { parts }) };
    this.#tell({ type: 'approval', state: { ...this.#state, pending }, calls: waiting });
    return true;
  }

  /** Makes the calls of the newest answer. */
  call(calls: readonly PendingCall[], { content: text, parts }: AssistantMessage): Observable<ToolMessage[]> {
    return defer(() => {
      const { concurrency = 8 } = this.#setup;
      const results = this.#results;
      const state = { ...this.#state, pending: { text, calls, ...(parts && { parts }) } };
      const start = { calls, state, approvals: this.#approvals, results };
      return concat(
        callsOfRound({ ...this.#setup, concurrency }, start, this.#tell),
        defer(() => of(results.terminal === undefined ? results.messages(calls) : results.messages(calls).map(ending))),
      );
    });
  }

  /** Takes the results of a round into the state, and tells where the agent stands. */
  take(results: readonly ToolMessage[], { messages, elapsedMs }: LoopFacts): void {
    const { references, artifacts, failed, terminal } = this.#results;
    const { round, artifacts: before } = this.#state;
    this.#state = {
      ...this.#state,
      messages: [...messages, ...results],
      round: round + 1,
      elapsedMs: this.#elapsedBefore + elapsedMs,
      references,
      artifacts: [...before, ...artifacts],
      failed,
    };
    if (terminal !== undefined) return;
    this.#tell({ type: 'state', state: this.#state });
    this.#results = new RoundResults(this.#state);
  }

  /** Tells the answer: that of the model, or the result of a tool that is one. */
  end(): void {
    const { terminal } = this.#results;
    if (terminal === undefined) {
      const { content: text, parts, finishReason = 'unknown' } = this.#newest;
      this.#tell(answerOf(this.#state, { text, ...(parts && { parts }), finishReason }));
      return;
    }
    this.#tell({ type: 'text', text: terminal });
    this.#tell(answerOf(this.#state, { text: terminal, finishReason: 'stop' }));
  }

  /** Asks the model under an id of the call; tells the events of its answer, whose chunks are kept. */
  #tellAnswer(messages: readonly ChatMessage[], place: string, chunks: AssistantChunk[]): Observable<never> {
    const { chat, idPrefix, parent } = this.#setup;
    const request = this.#withTools(chat.request(messages));
    const keep = (chunk: AssistantChunk): readonly AgentEvent[] => {
      chunks.push(chunk);
      return eventsOf(chunk);
    };
    const call = { id: `${idPrefix}${place}`, parent };
    return chat
      .ask(request, (answer$) => answer$.pipe(toMessageChunks(), concatMap(keep)), call)
      .pipe(
        tap({
          next: (event) => this.#tell(event),
          error: (error: unknown) => {
            this.#failure = error;
          },
        }),
        ignoreElements(),
      );
  }

  #withTools(request: ChatRequest): ChatRequest {
    const { tools } = this.#setup;
    if (!this.#mayCall || tools.length === 0) return request;
    return { ...request, tools: tools.map(({ definition }) => definition), toolChoice: 'auto' };
  }
}

const NO_APPROVALS: ReadonlyMap<string, Approval> = new Map();

/** When no further tool may be called. */
function rulesOf({ maxRounds, budget = {} }: AgentSetup): readonly RoundRule[] {
  const { tokens, ms } = budget;
  const rules: RoundRule[] = [({ round }) => (round > maxRounds ? `Exceed max rounds: ${maxRounds}.` : undefined)];
  if (tokens !== undefined) rules.push(tokensRule(tokens));
  if (ms !== undefined) rules.push(millisecondsRule(ms));
  return rules;
}

function storedAnswer({
  text: content,
  calls: toolCalls,
  parts,
}: NonNullable<AgentState['pending']>): AssistantMessage {
  return plain({ content, toolCalls, ...(parts && { parts }) });
}

/** An answer as the conversation keeps it: a stored state has no more of it. */
function plain({
  content,
  parts,
  toolCalls,
}: Pick<AssistantMessage, 'content' | 'parts' | 'toolCalls'>): AssistantMessage {
  return { role: 'assistant', content, ...(parts && { parts }), ...(toolCalls && { toolCalls }) };
}

/** A result behind which the loop ends. */
function ending(message: ToolMessage): ToolMessage {
  return { ...message, extra: { returnDirectly: true } };
}

function eventsOf({ content, reasoning, usage }: AssistantChunk): readonly AgentEvent[] {
  if (content !== undefined) return [{ type: 'text', text: content }];
  if (reasoning !== undefined) return [{ type: 'thinking', text: reasoning }];
  if (usage === undefined) return [];
  const { promptTokens, completionTokens, totalTokens } = usage;
  return [{ type: 'usage', promptTokens, completionTokens, totalTokens }];
}

function answerOf(state: AgentState, said: Pick<AgentAnswer, 'text' | 'parts' | 'finishReason'>): AgentAnswer {
  const { references, artifacts } = state;
  return { type: 'answer', ...said, state, references, artifacts };
}
