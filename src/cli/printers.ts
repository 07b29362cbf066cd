/** What `runnel run` prints while a run is at work. */
import { mergeForms, type RagflowProjection } from '../canvas/ragflow-events.js';
import type { RunEvent } from '../graph/events.js';
import { findNode, type Plan } from '../graph/plan.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { Screen } from './screen.js';

/** Prints one event of a run. */
export type Show = (event: RunEvent, projection: RagflowProjection) => void;

/** One line of JSON for each event, in RAGFlow's format. */
export function showEvents(screen: Screen): Show {
  return (event, projection) => {
    const wire = projection.project(event);
    if (wire !== undefined) screen.answer(`${JSON.stringify(wire)}\n`);
  };
}

/** The text of the answer as it comes, with reasoning and questions beside it. */
export function showAnswer(screen: Screen, sessionFile: string | undefined): Show {
  return (event, projection) => {
    if (event.type === 'run-interrupted') ask(mergeForms(event.pending), screen, sessionFile);
    else if (event.type === 'node-thinking' && event.phase === 'ended') {
      if (projection.speaks(event.node)) screen.aside('\n');
    } else if (event.type === 'node-delta' && projection.speaks(event.node)) {
      if (event.port === 'thinking') screen.aside(event.text);
      else screen.answer(event.text);
    }
  };
}

/** Warnings as remarks, nodes at work as the status. */
export function showProgress(screen: Screen, plan: Plan): (event: RunEvent) => void {
  return (event) => {
    if (event.type === 'node-notice' && event.name === 'warning') {
      screen.remark(`warning: ${event.node}: ${String(event.data.message)}`);
    } else if (event.type === 'node-started') {
      screen.status(findNode(plan, event.node)?.name ?? event.node);
    }
  };
}

function ask(data: JsonObject, screen: Screen, sessionFile: string | undefined): void {
  screen.end();
  if (typeof data.tips === 'string' && data.tips !== '') screen.remark(data.tips);
  const fields = Object.entries(isJsonObject(data.inputs) ? data.inputs : {}).map(([key, value]): Field => {
    const { name, type, options, optional } = isJsonObject(value) ? value : {};
    return {
      key,
      label: typeof name === 'string' && name !== '' && name !== key ? ` (${name})` : '',
      type: typeof type === 'string' ? type : 'line',
      options: Array.isArray(options) ? options : [],
      isOptional: optional === true,
    };
  });
  for (const { key, label, type, options, isOptional } of fields) {
    const choice = options.length === 0 ? '' : `: ${options.join(' | ')}`;
    screen.remark(`  ${key}${label}: ${type}${choice}${isOptional ? ', optional' : ''}`);
  }
  const answers = quote(JSON.stringify(Object.fromEntries(fields.map((field) => [field.key, sample(field)]))));
  screen.remark(
    sessionFile === undefined
      ? 'waiting for input, which needs a session: run again with --session FILE, then answer with --session FILE --inputs JSON'
      : `waiting for input: answer with --session ${quote(sessionFile)} --inputs ${answers}`,
  );
}

interface Field {
  readonly key: string;
  readonly label: string;
  readonly type: string;
  readonly options: readonly Json[];
  readonly isOptional: boolean;
}

function sample({ type, options }: Field): Json {
  if (options.length > 0) return options[0] as Json;
  if (type === 'number') return 0;
  return type === 'boolean' ? true : '…';
}

/** A text as one word of a POSIX shell. */
function quote(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
