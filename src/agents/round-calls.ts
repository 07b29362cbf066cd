/** The calls of one round of an agent that is no graph: its tools have their services bound, and inner agents tell where they stand. */
import { catchError, defer, mergeMap, type Observable, of } from 'rxjs';
import { type CallRound, makeCalls, type ReportedCall } from '../compose/tools/make-calls.js';
import type { ToolContent } from '../compose/tools/step-tool.js';
import { unknownTool } from '../compose/tools/tool-box.js';
import { toEngineError } from '../errors.js';
import type { Call, CallStart } from '../graph/node-events.js';
import type { JsonObject } from '../json.js';
import { readArguments } from '../tools/read-arguments.js';
import type { AgentEvent, AgentState, PendingCall } from './agent-events.js';
import type { AgentTool, AgentToolEvent } from './agent-tool.js';
import { type Approval, declinedResult } from './approvals.js';
import { repeatedResult, resultsBefore } from './repeated-calls.js';
import { NO_RESULT, type RoundResults } from './round-results.js';

/** What all rounds of an agent share. */
export interface Caller {
  readonly tools: readonly AgentTool[];
  /** In front of the id of every call. */
  readonly idPrefix: string;
  /** In front of the key of every call. */
  readonly keyPrefix: string;
  /** The call that the agent itself is, when it is an inner one. */
  readonly parent?: string;
  /** Names of the agents from the outermost one. */
  readonly path: string;
  /** Calls at once. */
  readonly concurrency: number;
  now(): number;
}

/** What a round begins with. */
export interface RoundStart {
  readonly calls: readonly PendingCall[];
  /** Of the agent, with the calls as pending. */
  readonly state: AgentState;
  /** Decisions about calls, by their ids. */
  readonly approvals: ReadonlyMap<string, Approval>;
  /** Filled while the calls are made. */
  readonly results: RoundResults;
}

/**
 * Makes the calls of one round, and tells their events; completes when all have ended.
 *
 * ```text
 * call 1    b-----p--e|        (began, progress, ended)
 * call 2    b--e|
 * told      bb-e--p--e         (texts by position: call 1, call 2)
 * result    -----------|
 * ```
 *
 * A call that fails is text for the model, as is an unknown name, and a call equal to one of the round before is answered from
 * there. Each `state` event of an inner agent becomes one of this agent. Never errors. Unsubscribing ends every call.
 */
export function callsOfRound(caller: Caller, start: RoundStart, tell: (event: AgentEvent) => void): Observable<never> {
  return defer(() => {
    const calls = start.calls.map((call, index) => new CallInRound(caller, start, call, index));
    return makeCalls(calls, new Round(caller, start, tell));
  });
}

/** A call at its place. */
class CallInRound {
  readonly call: PendingCall;
  readonly index: number;
  /** Undefined: there is no tool of that name. */
  readonly tool: AgentTool | undefined;
  readonly id: string;
  readonly key: string;
  /** Empty until they are read. */
  args: JsonObject = {};
  /** Milliseconds since 1970; undefined for a call that is not made. */
  startedAt: number | undefined;

  constructor({ tools, idPrefix, keyPrefix }: Caller, { state }: RoundStart, call: PendingCall, index: number) {
    const place = `${state.round}.${index}`;
    this.call = call;
    this.index = index;
    this.tool = tools.find(({ definition }) => definition.name === call.name);
    this.id = `${idPrefix}${place}`;
    this.key = `${keyPrefix}${place}`;
  }
}

class Round implements CallRound<CallInRound, ToolContent> {
  readonly concurrency: number;
  readonly #caller: Caller;
  readonly #start: RoundStart;
  readonly #before: ReturnType<typeof resultsBefore>;
  readonly #tell: (event: AgentEvent) => void;

  constructor(caller: Caller, start: RoundStart, tell: (event: AgentEvent) => void) {
    this.concurrency = caller.concurrency;
    this.#caller = caller;
    this.#start = start;
    this.#before = resultsBefore(start.state);
    this.#tell = tell;
  }

  mayBegin(): boolean {
    return true;
  }

  known({ call }: CallInRound): ToolContent | undefined {
    return declinedResult(this.#start.approvals.get(call.id)) ?? repeatedResult(this.#before, call);
  }

  startOf({ id, call, tool }: CallInRound): CallStart {
    const { parent } = this.#caller;
    return {
      id,
      kind: tool?.kind ?? 'tool',
      name: tool?.title ?? call.name,
      ...(parent !== undefined && { parent }),
      attributes: { 'gen_ai.tool.call.id': call.id },
    };
  }

  make(made: CallInRound, reported: ReportedCall): Observable<ToolContent> {
    return defer(() => {
      made.startedAt = this.#caller.now();
      return this.#work(made);
    }).pipe(
      catchError((thrown: unknown) => {
        const error = toEngineError(thrown, 'TOOL_FAILED');
        reported.failed(error);
        return of({ text: error.message, isError: true });
      }),
    );
  }

  isTold(): boolean {
    return true;
  }

  report(event: Call): void {
    this.#tell(event);
  }

  receive({ call, index }: CallInRound, { text, isError = false }: ToolContent): void {
    const { results } = this.#start;
    results.texts[index] = text;
    if (isError) results.failed.push(call.id);
  }

  ended({ call, index, tool, args, startedAt }: CallInRound): void {
    const { texts } = this.#start.results;
    texts[index] ??= NO_RESULT;
    const text = texts[index];
    const caller = this.#caller;
    this.#tell({
      type: 'tool-log',
      path: caller.path,
      toolName: startedAt === undefined ? call.name : (tool?.title ?? call.name),
      arguments: args,
      result: text.length > MAX_LOGGED ? `${text.slice(0, MAX_LOGGED)}…` : text,
      elapsedMs: startedAt === undefined ? 0 : caller.now() - startedAt,
    });
  }

  #work(made: CallInRound): Observable<ToolContent> {
    const { call, index, tool, id, key } = made;
    if (tool === undefined) {
      const names = this.#caller.tools.map(({ definition }) => definition.name);
      throw unknownTool(call.name, names, names);
    }
    made.args = readArguments(call.name, call.arguments);
    const state = this.#start.results.inner.get(index);
    return tool.call(made.args, { id, key, state }).pipe(mergeMap((event) => this.#replies(made, tool, event)));
  }

  /** What an event of a call gives; everything but a result is told on. */
  #replies({ id, index }: CallInRound, tool: AgentTool, event: AgentToolEvent): readonly ToolContent[] {
    const { results, state } = this.#start;
    switch (event.type) {
      case 'result':
        return [{ text: results.take(event, tool) }];
      case 'state':
        // A resume from here continues the calls of this round, and the inner agents from their own states.
        results.inner.set(index, event.state);
        this.#tell({ type: 'state', state: { ...state, inner: results.innerStates } });
        return [];
      case 'inner':
        this.#tell(event.event);
        return [];
      case 'usage':
        this.#tell(event);
        return [];
      default: {
        const message = event.type === 'progress' ? event.message : event.text;
        this.#tell({ type: 'call-progress', id, message });
        return [];
      }
    }
  }
}

/** Characters of a result in the log of tools. */
const MAX_LOGGED = 4_000;
