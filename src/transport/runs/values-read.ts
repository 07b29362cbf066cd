/** The values that a node read: each reference in its parameters, with what it named when the node began. */
import { z } from 'zod';
import { findReferences, parseReference, type Reference } from '../../dsl/reference.js';
import { type Lookup, readReference } from '../../dsl/resolve.js';
import { EngineError } from '../../errors.js';
import type { RunEvent } from '../../graph/events.js';
import { indexOfNode } from '../../graph/plan.js';
import { TokenSource } from '../../graph/values.js';
import { badArgument } from '../../hosting/refusals.js';
import type { RunState } from '../../hosting/run-history.js';
import { isJsonObject, type Json, type JsonObject, utf8Length } from '../../json.js';
import type { RunRecord } from '../../records/runs.js';
import type { ServerParts } from '../server-parts.js';
import { string, whole } from '../shapes.js';

const readShape = z.looseObject({
  reference: string.describe('Without braces, such as `LLM:A@content`.'),
  params: z.array(string).describe('Where it stands in the parameters, such as `prompts.0.content`.'),
  status: z
    .enum(['found', 'later', 'unset', 'unknown', 'hidden'])
    .describe(
      'It had a value; it got one while the node was at work; it had none; it names nothing; its name says that it is secret.',
    ),
  value: z.unknown().describe('With `found` and `later`: the value, or the beginning of its text where it is cut.'),
  bytes: whole.describe('Of the whole value as JSON; 0 without one.'),
  is_cut: z.boolean(),
});

export const valuesReadShape = z.looseObject({
  run_id: string,
  component_id: string,
  event_id: whole.describe('Number of the event with which the node began.'),
  reads: z.array(readShape).describe('In the order in which they stand in the parameters.'),
  omitted: whole.describe('References that are not listed, as there are too many.'),
});

/** Which activation: the numbers of the events with which it began and ended. */
interface Activation {
  readonly at: number;
  readonly until?: number | undefined;
}

/**
 * What the parameters of the node refer to that began with the event `at`, and the values there: those of the document that the run
 * executes. Values with a secret name are left out.
 *
 * @throws EngineError BAD_REQUEST unless that event is the start or the skip of a node; as `Host.state`
 */
export async function readValues(
  { host, stores }: Pick<ServerParts, 'host' | 'stores'>,
  tenant: string,
  { id: run }: Pick<RunRecord, 'id'>,
  { at, until }: Activation,
): Promise<JsonObject> {
  const event = await eventAt(stores.log, tenant, run, at);
  if (event?.type !== 'node-started' && event?.type !== 'node-skipped') {
    throw badArgument(
      `\`at\` must be the number of an event with which a node began or was passed over; received ${at}.`,
    );
  }
  const { node, token } = event;
  // What a skip ends is not in the state behind it.
  const state = await host.state(tenant, run, event.type === 'node-skipped' ? at - 1 : at);
  if (state.document === undefined) {
    const message = `The session of run "${run}" has gone on with another version of the document: what this one referred to is not known any more.`;
    throw new EngineError('PLAN_CHANGED', message);
  }
  const all = referencesOf(state, node);
  const listed = [...all.values()].slice(0, MAX_READS);
  const began = lookUp(state, token, listed);
  const isEarly = began.some(({ status }) => status === 'unset') && until !== undefined && until - 1 > at;
  const ended = isEarly ? lookUp(await host.state(tenant, run, until - 1), token, listed) : began;
  return {
    ...{ run_id: run, component_id: node, event_id: at },
    reads: listed.map((found, index) => viewOf(found, began[index] ?? UNSET, ended[index] ?? UNSET)),
    omitted: all.size - listed.length,
  };
}

/** References that are listed, and characters of a text that is. */
const MAX_READS = 200;
const MAX_CHARACTERS = 8_192;

const UNSET: Lookup = { status: 'unset' };

async function eventAt(
  log: ServerParts['stores']['log'],
  tenant: string,
  run: string,
  seq: number,
): Promise<RunEvent | undefined> {
  const [stored] = (await log.read(tenant, run, seq - 1, { maxEvents: 1, maxBytes: 1 })) ?? [];
  return stored?.seq === seq ? (JSON.parse(stored.json) as RunEvent) : undefined;
}

/** A reference, and where it stands. */
interface FoundReference {
  readonly reference: Reference;
  readonly key: string;
  readonly params: string[];
}

/** Each once. Outputs and what a trial kept are not read by the node. */
function referencesOf({ document, plan }: RunState, node: string): ReadonlyMap<string, FoundReference> {
  const found = new Map<string, FoundReference>();
  const add = (reference: Reference, path: string): void => {
    const key = keyOf(reference);
    const known = found.get(key);
    if (known === undefined) found.set(key, { reference, key, params: [path] });
    else if (known.params.length < MAX_READS && !known.params.includes(path)) known.params.push(path);
  };
  const walk = (value: Json, path: string): void => {
    if (typeof value === 'string') {
      const whole = parseReference(value);
      if (whole !== undefined && isMeant(whole)) add(whole, path);
      else for (const { reference } of findReferences(value)) add(reference, path);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries<Json>(value as JsonObject)) walk(item, `${path}.${name}`);
    }
  };
  // An address of mail has the form of a reference, and names no node; a short name alone is a word.
  const isMeant = (reference: Reference): boolean =>
    reference.kind === 'variable' ||
    (reference.kind === 'output' && indexOfNode(plan, reference.component) !== undefined);
  for (const [name, value] of Object.entries(document?.components[node]?.params ?? {})) {
    if (name !== 'outputs' && name !== 'debug_inputs') walk(value, name);
  }
  return found;
}

function keyOf(reference: Reference): string {
  if (reference.kind === 'variable') return reference.key;
  const path = [reference.name, ...reference.path].join('.');
  return reference.kind === 'output' ? `${reference.component}@${path}` : path;
}

function lookUp({ plan, state, seq }: RunState, token: number, all: readonly FoundReference[]): readonly Lookup[] {
  const source = TokenSource.of(plan, state, token);
  if (source === undefined)
    throw new EngineError('HISTORY_GONE', `Token ${token} is not in the state of event ${seq}.`);
  return all.map(({ reference }) => readReference(reference, source));
}

function viewOf({ key, params }: FoundReference, began: Lookup, ended: Lookup): JsonObject {
  const lookup = began.status === 'unset' ? ended : began;
  const nothing = { reference: key, params, bytes: 0, is_cut: false };
  if (lookup.status !== 'found') return { ...nothing, status: lookup.status === 'unset' ? 'unset' : 'unknown' };
  if (key.split(/[@.]/).some((name) => SECRET.test(name))) return { ...nothing, status: 'hidden' };
  const value = withoutSecrets(lookup.value);
  const json = JSON.stringify(value);
  const text = typeof value === 'string' ? value : json;
  const isCut = text.length > MAX_CHARACTERS;
  return {
    ...nothing,
    status: began.status === 'found' ? 'found' : 'later',
    value: isCut ? text.slice(0, MAX_CHARACTERS) : value,
    bytes: utf8Length(json),
    is_cut: isCut,
  };
}

/** Names of values that are not shown, and texts that look like keys wherever they stand. */
const SECRET =
  /(?:^|[_-])(?:api_?key|auth_key|access_key|private_key|secret(?:_key)?|password|passwd|token|authorization|cookie)$|(?:ApiKey|Secret|Password|Token)$/i;
const KEY_LIKE =
  /\b(?:sk|pk|ghp|gho|xox[abp]|ragflow|AKIA)[-_][A-Za-z0-9_-]{16,}|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*|Bearer\s+\S{8,}/g;
const HIDDEN = '(hidden)';

function withoutSecrets(value: Json): Json {
  if (typeof value === 'string') return value.replace(KEY_LIKE, HIDDEN);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      SECRET.test(name) && typeof one === 'string' ? HIDDEN : withoutSecrets(one),
    ]),
  );
}
