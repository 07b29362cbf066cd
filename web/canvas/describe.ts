/** What parameters say about a component. Its type is not asked: a component that the server learns is described as well. */
import { ownList, ownObject, ownText, ownTexts, ownValue } from '../../src/dsl/json-copy.js';
import type { Json, JsonObject } from '../../src/json.js';

/** One of the ways that a component chooses from. */
export interface Branch {
  /** Its name, such as a category; undefined for the way that is taken when nothing else fits, and for conditions. */
  readonly label?: string;
  /** What must hold; empty when its name says all. */
  readonly condition: string;
  /** `case`: a condition, by number; `else`: what is left. */
  readonly kind: 'case' | 'category' | 'else';
  readonly targets: readonly string[];
}

/** Something that an agent may call. */
export interface OfferedTool {
  readonly name: string;
  readonly type: string;
  readonly kind: 'tool' | 'agent' | 'server';
}

/** Characters of a prompt that a card has room for. */
const MAX_SUMMARY = 160;
/** Items of a condition that are written out. */
const MAX_ITEMS = 3;

/** Fields that say what a component does, the most telling first. */
const TELLING = [
  ...[
    'user_prompt',
    'content',
    'messages',
    'prologue',
    'query',
    'question',
    'sql',
    'url',
    'tips',
    'items_ref',
    'script',
  ],
  ...['text', 'parallel', 'to_email', 'description'],
] as const;

/** A line on what a component does: its model and the beginning of what it says, asks or reads. Empty when nothing tells. */
export function summaryOf(params: JsonObject): string {
  const model = modelOf(params);
  const words = firstWords(params);
  return [model, words].filter((part) => part !== '').join(' · ');
}

/** Name of the model without its factory; empty when there is none. */
function modelOf(params: JsonObject): string {
  return (ownText(params, 'llm_id') ?? '').trim().split('@', 1)[0] ?? '';
}

function firstWords(params: JsonObject): string {
  const ends = ownList(params, 'loop_termination_condition').map(conditionText);
  if (ends.length > 0) return shorten(ends.join(` ${ownText(params, 'logical_operator') ?? 'and'} `));
  for (const text of [promptOf(params), ownText(params, 'sys_prompt') ?? '']) {
    if (text.trim() !== '') return shorten(text);
  }
  for (const name of TELLING) {
    const text = textOf(ownValue(params, name));
    if (text.trim() !== '') return shorten(text);
  }
  const fields = Object.keys(ownObject(params, 'inputs') ?? {});
  return shorten(fields.join(', '));
}

/** What a model is asked beside its system prompt. A prompt that is only the user's question says nothing. */
function promptOf(params: JsonObject): string {
  const prompts = ownValue(params, 'prompts');
  const text = typeof prompts === 'string' ? prompts : ownList(params, 'prompts').map(contentOf).join(' ');
  return /^\s*\{?\s*sys\.query\s*\}?\s*$/.test(text) ? '' : text;
}

function contentOf(message: Json): string {
  return ownText(message, 'content') ?? '';
}

function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? textOf((value as readonly Json[]).find((item) => typeof item === 'string')) : '';
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > MAX_SUMMARY ? `${line.slice(0, MAX_SUMMARY)}…` : line;
}

/** The ways that a component chooses from, in the order in which they are tried; `hasAll`: also those that lead nowhere yet. */
export function branchesOf(params: JsonObject, hasAll = false): readonly Branch[] {
  const cases = ownList(params, 'conditions').map(
    (one): Branch => ({ kind: 'case', condition: itemsText(one), targets: targetsOf(one, 'to') }),
  );
  const categories = Object.entries(ownObject(params, 'category_description') ?? {}).map(
    ([label, one]): Branch => ({ kind: 'category', label, condition: '', targets: targetsOf(one, 'to') }),
  );
  const otherwise = targetsOf(params, 'end_cpn_ids');
  const hasRest = otherwise.length > 0 || (hasAll && cases.length > 0);
  const rest: readonly Branch[] = hasRest ? [{ kind: 'else', condition: '', targets: otherwise }] : [];
  return [...cases.filter(({ targets }) => hasAll || targets.length > 0), ...categories, ...rest];
}

function itemsText(condition: Json): string {
  const items = ownList(condition, 'items');
  const written = items.slice(0, MAX_ITEMS).map(conditionText);
  if (items.length > MAX_ITEMS) written.push('…');
  return shorten(written.join(` ${ownText(condition, 'logical_operator') ?? 'and'} `));
}

function conditionText(item: Json): string {
  const value = ownValue(item, 'value');
  const right = value === undefined || value === '' ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  const left = ownText(item, 'cpn_id') ?? ownText(item, 'variable') ?? '';
  return [left, ownText(item, 'operator') ?? '', right].filter((part) => part !== '').join(' ');
}

/** Something about how a component runs that a card marks. */
export interface Badge {
  readonly kind: 'retry' | 'timeout' | 'fallback' | 'join';
  /** How often, or how many seconds. */
  readonly amount?: number;
  /** What the document says of it, as it is written there. */
  readonly mode?: string;
}

/** That several ways lead to a component, with how they come together where its parameters say so. */
export function joinBadge(params: JsonObject): Badge {
  const mode = ownText(params, 'join_mode');
  return { kind: 'join', ...(mode !== undefined && mode !== '' && { mode }) };
}

/** Retries, time limit, and a value in place of a failure. */
export function badgesOf(params: JsonObject): readonly Badge[] {
  const [retries, timeout] = [ownValue(params, 'max_retries'), ownValue(params, 'timeout')];
  return [
    ...(typeof retries === 'number' && retries > 0 ? [{ kind: 'retry', amount: retries } as const] : []),
    ...(typeof timeout === 'number' && timeout > 0 ? [{ kind: 'timeout', amount: timeout } as const] : []),
    ...(ownText(params, 'exception_method') === 'comment' ? [{ kind: 'fallback' } as const] : []),
  ];
}

/** Where a component goes on when it fails; empty when its failure ends the run. */
export function exceptionsOf(params: JsonObject): readonly string[] {
  const method = ownText(params, 'exception_method');
  return method === 'goto' || method === 'comment' ? targetsOf(params, 'exception_goto') : [];
}

/** Whether a component goes on elsewhere when it fails; `hasAll`: also where that leads nowhere yet. */
export function hasErrorExit(params: JsonObject, hasAll: boolean): boolean {
  return exceptionsOf(params).length > 0 || (hasAll && ownText(params, 'exception_method') === 'goto');
}

function targetsOf(source: unknown, name: string): readonly string[] {
  const one = ownText(source, name);
  return (one === undefined ? ownTexts(source, name) : [one]).filter((id) => id !== '');
}

/** Tools, sub-agents and MCP servers that a model may call. */
export function toolsOf(params: JsonObject): readonly OfferedTool[] {
  const tools = ownList(params, 'tools').flatMap((entry): OfferedTool[] => {
    const type = typeof entry === 'string' ? entry : ownText(entry, 'component_name');
    if (type === undefined) return [];
    const kind = ownObject(entry, 'params')?.tools !== undefined || type.toLowerCase() === 'agent' ? 'agent' : 'tool';
    return [{ type, kind, name: ownText(entry, 'name') || type }];
  });
  const servers = ownList(params, 'mcp').map((entry): OfferedTool => {
    const names = Object.keys(ownObject(entry, 'tools') ?? {});
    const id = ownText(entry, 'mcp_id') ?? 'MCP';
    return { type: 'MCP', kind: 'server', name: names.length > 0 ? names.join(', ') : id };
  });
  return [...tools, ...servers];
}
