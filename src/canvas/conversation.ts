/**
 * What a conversation keeps between its runs: `sys.*` and `env.*`, the history, what was retrieved, what is remembered.
 *
 * All of it lives in the run's variables, so a session is nothing but the variables that its last run left.
 */

import { initialVariables } from '../dsl/globals.js';
import { readDocument } from '../dsl/read.js';
import { renderJson } from '../dsl/render-value.js';
import type { PlanHooks, Variables } from '../graph/plan.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';

/** Turns that a history keeps; older ones are forgotten. */
const MAX_HISTORY = 2000;

/** What a user gives to one run, as it arrives in `activation.input`. */
export interface TurnInput {
  readonly query: Json;
  readonly inputs: JsonObject;
  readonly files: readonly Json[];
  readonly user_id?: string;
  /** Further variables of this run, such as `sys.chat_template_kwargs` or `env.KEY`. */
  readonly variables: JsonObject;
}

/** Reads the input of a run leniently: whatever is missing is empty. */
export function readTurnInput(input: Json): TurnInput {
  const given = isJsonObject(input) ? input : {};
  return {
    query: given.query ?? '',
    inputs: isJsonObject(given.inputs) ? given.inputs : {},
    files: Array.isArray(given.files) ? given.files : [],
    ...(typeof given.user_id === 'string' ? { user_id: given.user_id } : {}),
    variables: isJsonObject(given.variables) ? given.variables : {},
  };
}

/**
 * The variables that a conversation starts with, from those of its document.
 *
 * The lists that every run adds to are there from the start: an object that grows at each copy costs ten times as much to copy.
 */
export function newConversation(variables: Variables): Variables {
  return { ...variables, history: [], retrieval: [] };
}

/** Bookkeeping of a conversation around every run: RAGFlow's `sys.*` values and history (`agent/canvas.py`). */
export const conversationHooks: PlanHooks = {
  open(variables, input, { now }): Variables {
    const turn = readTurnInput(input);
    const text = typeof turn.query === 'string' ? turn.query : renderJson(turn.query);
    const turns = variables['sys.conversation_turns'];
    return {
      ...variables,
      // An empty query keeps the last one: a form's answer carries none, and its run still belongs to that question.
      ...(text === '' ? {} : { 'sys.query': turn.query }),
      ...(turn.user_id ? { 'sys.user_id': turn.user_id } : {}),
      ...(turn.files.length === 0 ? {} : { 'sys.files': turn.files }),
      ...turn.variables,
      'sys.conversation_turns': (typeof turns === 'number' ? turns : 0) + 1,
      'sys.date': formatDate(new Date(now)),
      'sys.history': append(variables['sys.history'], `user: ${text}`),
      history: append(variables.history, ['user', turn.query]),
      retrieval: append(variables.retrieval, { chunks: {}, doc_aggs: {} }),
    };
  },
  close(variables, outputs): Variables {
    if (outputs === null) return variables;
    const { content } = outputs;
    const text = typeof content === 'string' ? content : renderJson(outputs);
    return {
      ...variables,
      'sys.history': append(variables['sys.history'], `assistant: ${text}`),
      history: append(variables.history, ['assistant', outputs]),
    };
  },
};

function append(list: Json | undefined, entry: Json): Json {
  const before = Array.isArray(list) ? list : [];
  return [...before.slice(Math.max(0, before.length + 1 - MAX_HISTORY)), entry];
}

/** Local time as RAGFlow writes it: `2026-11-21 09:30:00`. */
function formatDate(date: Date): string {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19).replace('T', ' ');
}

/** What of a conversation its document shows. */
export interface DocumentState {
  /** As the last run left them. */
  readonly variables: Variables;
  /** Ids of the nodes that ran, in the order in which they started; while a run waits, those that wait. */
  readonly path?: readonly string[];
}

/**
 * The document with `globals`, `history`, `path`, `retrieval` and `memory` as the last run left them, or as the first will find them.
 *
 * Version 2 has no room for state: such a document is given as it is, and so is one that cannot be read.
 */
export function documentWithState(document: JsonObject, state: DocumentState | undefined): JsonObject {
  if (document.version === 2) return document;
  const left = state?.variables ?? initialState(document);
  if (left === undefined) return document;
  const { history = [], retrieval = [], memory = [] } = left;
  const globals: Record<string, Json> = {};
  for (const [key, value] of Object.entries(left)) {
    if (key.startsWith('sys.') || key.startsWith('env.')) globals[key] = value;
  }
  return { ...document, globals, history, path: state?.path ?? [], retrieval, memory };
}

function initialState(dsl: JsonObject): Variables | undefined {
  const { document } = readDocument(dsl);
  return document === undefined ? undefined : newConversation(initialVariables(document));
}
