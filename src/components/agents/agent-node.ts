/** The events of an agent as events of its node, and the approvals that it waits for. */
import { concat, concatMap, defer, from, type Observable, of } from 'rxjs';
import { artifactMarkdown, artifactRecord } from '../../adapters/tool-event.js';
import {
  type AgentAnswer,
  type AgentEvent,
  type AgentState,
  type InputJoined,
  type PendingCall,
  readAgentState,
  stateAsJson,
  type ToolLogEntry,
} from '../../agents/agent-events.js';
import type { Approval } from '../../agents/approvals.js';
import type { CallContext } from '../../agents/call-context.js';
import {
  delta,
  interrupt,
  type NodeEvent,
  type Notice,
  notice,
  type Progress,
  settled,
} from '../../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Artifact } from '../../tools/tool.js';
import { askForObject, parseObject, TOO_LONG } from '../chat/answers.js';
import { schemaOf } from '../chat/params.js';
import { registerReferences } from '../chat/retrieval.js';
import { type Form, fieldsGivenTo, formAddress } from '../form-fields.js';
import { REPAIR_PROMPT } from '../prompts.js';
import { removeThinking, type TaggedText } from '../speaking/think-text.js';
import type { AgentSpec } from './agent-params.js';
import type { OpenAgent } from './agent-setup.js';

/** One activation of an Agent. */
export interface AgentNode {
  readonly context: CallContext;
  readonly spec: AgentSpec;
  readonly opened: OpenAgent;
  /** The text so far, thoughts between think tags. */
  readonly speech: TaggedText;
  /** Another node reads the answer live: then what it settles with is what was streamed. */
  readonly isStreamed: boolean;
}

/** The node state of an Agent between two rounds. */
export interface AgentNodeState {
  readonly state: AgentState;
  readonly said: string;
}

/** Reads a stored node state; undefined when the agent must start anew. */
export function readNodeState(nodeState: Json | undefined): AgentNodeState | undefined {
  if (!isJsonObject(nodeState)) return undefined;
  const state = readAgentState(nodeState.state);
  return state === undefined ? undefined : { state, said: typeof nodeState.said === 'string' ? nodeState.said : '' };
}

/** The events of a node for one event of its agent. */
export function nodeEvents(node: AgentNode, event: AgentEvent): Observable<NodeEvent> {
  switch (event.type) {
    case 'text':
      node.speech.append(event.text, false);
      return of(delta('content', event.text));
    case 'thinking':
      node.speech.append(event.text, true);
      return of(delta('thinking', event.text));
    case 'usage':
    case 'call':
      return of(event);
    case 'call-progress':
      return of(notice('tool-progress', { call: event.id, message: event.message }));
    case 'tool-log':
      return of(toolLog(event));
    case 'input-delivered':
      return from(delivered(node, event));
    case 'state':
      return of(progress(node, event.state));
    case 'approval':
      return of<NodeEvent[]>(progress(node, event.state), interrupt(approvalPayload(node.spec.name, event.calls)));
    case 'answer':
      return schemaOf(node.spec.params) === undefined ? textAnswer(node, event) : objectAnswer(node, event);
  }
}

/** A text that was said before it is a paragraph of its own. */
function delivered({ speech, context }: AgentNode, { id, content, round }: InputJoined): NodeEvent[] {
  const told = notice('input-delivered', { id, content, agent: context.node, round });
  if (speech.toString() === '') return [told];
  speech.append(PARAGRAPH, false);
  return [delta('content', PARAGRAPH), told];
}

const PARAGRAPH = '\n\n';

function progress({ speech, isStreamed }: AgentNode, state: AgentState): Progress {
  return { type: 'progress', nodeState: { state: stateAsJson(state), said: isStreamed ? speech.toString() : '' } };
}

/** One entry of the log of tools, in the names that RAGFlow's clients read. */
function toolLog({ path, toolName, arguments: args, result, elapsedMs }: ToolLogEntry): Notice {
  return notice('tool-called', {
    path,
    tool_name: toolName,
    arguments: args,
    result,
    elapsed_time: elapsedMs / 1000,
  });
}

function textAnswer(node: AgentNode, { text, artifacts, ...answer }: AgentAnswer): Observable<NodeEvent> {
  const { speech, isStreamed } = node;
  const links = linksTo(artifacts, text);
  const shown: NodeEvent[] = [];
  if (answer.finishReason === 'length') shown.push(TOO_LONG);
  if (links !== '') {
    speech.append(links, false);
    shown.push(delta('content', links));
  }
  const content = isStreamed ? speech.toString() : removeThinking(`${text}${links}`);
  return concat(from(shown), settle(node, { content }, { artifacts, ...answer }));
}

/** Reads the answer as an object; when it is none, the model is called again, without tools. */
function objectAnswer(node: AgentNode, answer: AgentAnswer): Observable<NodeEvent> {
  const structured = parseObject(answer.text);
  if (structured !== undefined) return settle(node, { structured }, answer);
  const { context, opened, spec } = node;
  const former = { role: 'assistant', content: answer.text } as const;
  const request = opened.chat.request([...answer.state.messages, former, { role: 'user', content: REPAIR_PROMPT }]);
  const maxRetries = spec.params.max_retries ?? 0;
  const object$ = askForObject({ node: context.node, chat: opened.chat, request, maxRetries });
  return object$.pipe(
    concatMap((event) => (event.type === 'settled' ? settle(node, event.outputs, answer) : of(event))),
  );
}

function settle(
  { context }: AgentNode,
  outputs: JsonObject,
  { references, artifacts }: Pick<AgentAnswer, 'references' | 'artifacts'>,
): Observable<NodeEvent> {
  const all = artifacts.length === 0 ? outputs : { ...outputs, _ARTIFACTS: artifacts.map(artifactRecord) };
  const isEmpty = Object.keys(references.chunks).length === 0;
  // Computed when it is written: tools of other nodes may have found something in between.
  return defer(() => of(settled(all, isEmpty ? {} : { writes: [registerReferences(context.source, references)] })));
}

/** Links to what tools made, below the answer; those that it holds already are not repeated. */
function linksTo(artifacts: readonly Artifact[], text: string): string {
  const missing = new Map(artifacts.filter(({ url }) => !text.includes(url)).map((one) => [one.url, one]));
  return [...missing.values()].map((one) => `\n\n${artifactMarkdown(one)}`).join('');
}

/** Characters of a call's arguments that the question shows. */
const MAX_SHOWN = 1_000;

const ALLOW = 'allow';
const DECLINE = 'decline';

/** What a waiting agent asks: one field for each call, in the order of `calls`. */
export function approvalPayload(agent: string, calls: readonly PendingCall[]): JsonObject {
  const fields = calls.map((call, index): [string, Json] => [
    fieldName(index),
    { name: describe(call), type: 'options', options: [ALLOW, DECLINE], optional: false, value: null },
  ]);
  const [only] = calls;
  const what = calls.length === 1 && only !== undefined ? `call ${only.name}` : `make ${calls.length} calls`;
  return {
    kind: 'approval',
    inputs: Object.fromEntries(fields),
    tips: `${agent} would like to ${what}.`,
    calls: calls.map(({ id, name, arguments: text }) => ({ id, name, arguments: text })),
  };
}

/**
 * The decision of the user about each call, by its id: `allow` (or true, yes) allows it, anything else declines it and is the reason.
 * Undefined while a call has no answer.
 */
export function readApprovals(
  at: Pick<CallContext, 'node' | 'token'>,
  answer: Json | undefined,
  calls: readonly PendingCall[],
): ReadonlyMap<string, Approval> | undefined {
  const inputs = isJsonObject(answer) && Object.hasOwn(answer, 'inputs') ? answer.inputs : answer;
  const form: Form = new Map(
    calls.map((_, index) => [fieldName(index), { type: 'options', optional: false, declared: {} }]),
  );
  const given = fieldsGivenTo(at.node, form, inputs, formAddress(at));
  const approvals = new Map<string, Approval>();
  for (const [index, { id }] of calls.entries()) {
    const decision = given.get(fieldName(index));
    const value = isJsonObject(decision) && Object.hasOwn(decision, 'value') ? decision.value : decision;
    if (value === undefined || value === null || value === '') return undefined;
    approvals.set(id, approvalOf(value));
  }
  return approvals;
}

function approvalOf(value: Json): Approval {
  const text = typeof value === 'string' ? value.trim() : '';
  const isAllowed = value === true || ['allow', 'yes', 'true', 'approve', 'ok'].includes(text.toLowerCase());
  return { isAllowed, reason: isAllowed || text.toLowerCase() === DECLINE ? '' : text };
}

function fieldName(index: number): string {
  return `call_${index + 1}`;
}

function describe({ name, arguments: text }: PendingCall): string {
  return `${name}(${text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text})`;
}
