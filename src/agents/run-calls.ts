/** One round of tool calls: all at once, results in the order of the calls. */

import { catchError, concat, defer, from, mergeMap, type Observable, of, tap } from 'rxjs';
import type { References } from '../adapters/tool-event.js';
import { toEngineError } from '../errors.js';
import { type CallEnd, callFinished, callStarted } from '../graph/node-events.js';
import type { JsonObject } from '../json.js';
import { readArguments } from '../tools/read-arguments.js';
import { mergeReferences } from '../tools/results.js';
import type { Artifact, ToolResult } from '../tools/tool.js';
import type { AgentEvent, AgentState, AgentStateEvent, PendingCall, ToolLogEntry } from './agent-events.js';
import type { AgentTool, AgentToolEvent } from './agent-tool.js';

/** Whether a person allowed a call, and the reason given. */
export interface Approval {
  readonly isAllowed: boolean;
  readonly reason: string;
}

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

/** What a round gave: filled while its events pass. */
export interface RoundResults {
  /** By position of the call. */
  readonly texts: string[];
  /** Ids of calls that failed or were declined. */
  readonly failed: string[];
  references: References;
  readonly artifacts: Artifact[];
  /** States of inner agents, by position of the call. */
  readonly inner: Map<number, AgentState>;
  /** Text of a tool whose result is the answer. */
  terminal: string | undefined;
}

/** Characters of a result for the model; the longest result of a search is about as long. */
const MAX_RESULT = 400_000;

/** Characters of a result in the log of tools. */
const MAX_LOGGED = 4_000;

/**
 * Makes the calls of one round.
 *
 * ```text
 * call 1    b-----p--e|        (began, progress, ended)
 * call 2    b--e|
 * result    bb-e--p--e|        (texts by position: call 1, call 2)
 * ```
 *
 * A call that fails is text for the model, as is an unknown name, and a call equal to one of the round before is answered from
 * there. `state` has the calls as pending; each `state` event of an inner agent becomes one of this agent. Fills `results`; never errors.
 * Unsubscribing ends every call.
 */
export function runCalls(
  caller: Caller,
  calls: readonly PendingCall[],
  state: AgentState,
  results: RoundResults,
  approvals: ReadonlyMap<string, Approval>,
): Observable<AgentEvent> {
  const former = formerResults(state);
  return from(calls).pipe(
    mergeMap((call, index) => {
      const note = (text: string) => {
        results.texts[index] = text;
      };
      const answered = (text: string) => {
        note(text);
        return of(logged(caller, call.name, {}, text, 0));
      };
      const approval = approvals.get(call.id);
      if (approval?.isAllowed === false) {
        // Should the model ask again and the user think otherwise, the call must be made.
        results.failed.push(call.id);
        return answered(declined(approval.reason));
      }
      const known = former.get(signatureOf(call));
      if (known !== undefined) return answered(known.endsWith(SAME_CALL) ? known : `${known}\n${SAME_CALL}`);
      return runCall(caller, call, { state, index }, results, note);
    }, caller.concurrency),
  );
}

/** Where a call is made. */
interface CallPlace {
  /** Of the agent, with this round pending. */
  readonly state: AgentState;
  readonly index: number;
}

function runCall(
  caller: Caller,
  call: PendingCall,
  { state, index }: CallPlace,
  results: RoundResults,
  note: (text: string) => void,
): Observable<AgentEvent> {
  return defer(() => {
    const tool = caller.tools.find(({ definition }) => definition.name === call.name);
    const place = `${state.round}.${index}`;
    const id = `${caller.idPrefix}${place}`;
    const startedAt = caller.now();
    let args: JsonObject = {};
    let text = NO_RESULT;
    const end = (name: string, error?: CallEnd['error']): Observable<AgentEvent> =>
      defer(() => {
        note(text);
        const ended = callFinished({ id, ...(error && { error }) });
        return of(ended, logged(caller, name, args, text, caller.now() - startedAt));
      });
    const fail = (error: unknown): Observable<AgentEvent> => {
      const { code, message } = toEngineError(error, 'TOOL_FAILED');
      text = message;
      results.failed.push(call.id);
      return end(tool?.title ?? call.name, { code, message });
    };
    const began = callStarted({
      id,
      kind: tool?.kind ?? 'tool',
      name: tool?.title ?? call.name,
      ...(caller.parent === undefined ? {} : { parent: caller.parent }),
      attributes: { 'gen_ai.tool.call.id': call.id },
    });
    if (tool === undefined) return concat(of<AgentEvent>(began), fail(unknownTool(call.name, caller.tools)));
    const work$ = defer(() => {
      args = readArguments(call.name, call.arguments);
      return tool.call(args, { id, key: `${caller.keyPrefix}${place}`, state: results.inner.get(index) });
    }).pipe(
      tap((event) => {
        if (event.type === 'result') text = cut(take(event, tool, results));
        else if (event.type === 'state') results.inner.set(index, event.state);
      }),
      mergeMap((event) => (event.type === 'state' ? [stateWithInner(state, results)] : reportsOf(id, event))),
    );
    return concat(of(began), concat(work$, end(tool.title)).pipe(catchError(fail)));
  });
}

function cut(text: string): string {
  if (text.length <= MAX_RESULT) return text;
  return `${text.slice(0, MAX_RESULT)}\n(The result is longer; this is its beginning.)`;
}

/** Stores the references and artifacts of a result; returns its text. */
function take(event: ToolResult, tool: AgentTool, results: RoundResults): string {
  if (event.references !== undefined) results.references = mergeReferences(results.references, event.references);
  if (event.artifacts !== undefined) results.artifacts.push(...event.artifacts);
  const text = event.text === '' ? fallbackText(event) : event.text;
  if (tool.isTerminal === true) results.terminal ??= text;
  return text;
}

/** The text of a result without one: its `content`, else all of its outputs. */
function fallbackText({ outputs }: ToolResult): string {
  const { content } = outputs;
  if (typeof content === 'string' && content !== '') return content;
  const given = Object.entries(outputs).filter(
    ([name, value]) => !name.startsWith('_') && value !== '' && value !== null,
  );
  return given.length === 0 ? NO_RESULT : JSON.stringify(Object.fromEntries(given));
}

/** A resume from here continues the calls of this round, and the inner agents from their own states. */
function stateWithInner(state: AgentState, { inner }: RoundResults): AgentEvent {
  return { type: 'state', state: { ...state, inner: [...inner].map(([at, stands]) => ({ at, state: stands })) } };
}

function reportsOf(id: string, event: Exclude<AgentToolEvent, AgentStateEvent>): readonly AgentEvent[] {
  if (event.type === 'inner') return [event.event];
  if (event.type === 'result') return [];
  return [{ type: 'call-progress', id, message: event.type === 'progress' ? event.message : event.text }];
}

function logged(caller: Caller, toolName: string, args: JsonObject, result: string, elapsedMs: number): ToolLogEntry {
  const shown = result.length > MAX_LOGGED ? `${result.slice(0, MAX_LOGGED)}…` : result;
  return { type: 'tool-log', path: caller.path, toolName, arguments: args, result: shown, elapsedMs };
}

function unknownTool(name: string, tools: readonly AgentTool[]): Error {
  const known = tools.map(({ definition }) => definition.name).join(', ');
  return new Error(`There is no tool "${name}". ${known === '' ? 'There are no tools.' : `The tools are: ${known}.`}`);
}

/** Results of the newest round, by what was called, without those of failed calls. */
function formerResults({ messages, failed = [] }: AgentState): ReadonlyMap<string, string> {
  const at = messages.findLastIndex(({ role }) => role === 'assistant');
  const asked = messages[at];
  if (asked?.role !== 'assistant' || asked.toolCalls === undefined) return new Map();
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

function signatureOf({ name, arguments: text }: PendingCall): string {
  return `${name}\n${text}`;
}

/** Follows the result of a call that repeats the one before. */
export const SAME_CALL =
  '(This is the result of the same call as before. Calling it again gives nothing new; go on with what you have.)';

/** The result of a tool that gave nothing. */
const NO_RESULT = 'The tool gave no result.';

/** The result of a call that a person did not allow. */
export function declined(reason: string): string {
  return reason === '' ? 'The user declined this call.' : `The user declined this call: ${reason}`;
}

/** The question to an inner agent. */
export function taskText({
  user_prompt: query,
  reasoning,
  context,
}: Readonly<Record<'user_prompt' | 'reasoning' | 'context', string>>): string {
  if (reasoning === '' && context === '') return query;
  const part = (title: string, text: string) => (text === '' ? [] : [`${title}:\n${text}`]);
  return [...part('REASONING', reasoning), ...part('CONTEXT', context), ...part('QUERY', query)].join('\n\n');
}
