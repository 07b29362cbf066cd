/** What `runnel run` shows while it goes. */
import type { WireEvent } from '../canvas/ragflow-events.js';
import type { RunEvent } from '../graph/events.js';
import { findNode, type Plan } from '../graph/plan.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { Screen } from './screen.js';

/** Shows one event of a run. */
export type Show = (event: WireEvent) => void;

/** One line of JSON for each event. */
export function showEvents(screen: Screen): Show {
  return (event) => screen.answer(`${JSON.stringify(event)}\n`);
}

/** The text of the answer as it comes, with reasoning and questions beside it. */
export function showAnswer(screen: Screen, sessionFile: string | undefined): Show {
  const thinking = new Set<Json | undefined>();
  return ({ event, data }) => {
    if (event === 'user_inputs') ask(data, screen, sessionFile);
    if (event !== 'message') return;
    const speaker = data.component_id;
    if (data.start_to_think === true) thinking.add(speaker);
    if (data.end_to_think === true && thinking.delete(speaker)) screen.aside('\n');
    const text = typeof data.content === 'string' ? data.content : '';
    if (thinking.has(speaker)) screen.aside(text);
    else screen.answer(text);
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
