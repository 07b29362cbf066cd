/** The state of a run as the API gives it: what nodes gave, variables, and where its tokens are. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Node, Plan } from '../../graph/plan.js';
import type { TokenState } from '../../graph/state.js';
import type { RunState } from '../../hosting/run-history.js';
import { type Json, type JsonObject, utf8Length } from '../../json.js';
import { PAGE_BYTES } from '../http/input.js';
import { anyObject, string, whole } from '../shapes.js';

const tokenShape = z.looseObject({
  component_id: string,
  token: whole.describe('Number of the token, as events have it.'),
  within: string.nullable().describe('`container/pass`, outermost first; null at the top level.'),
  status: z
    .enum(['ready', 'held', 'waiting'])
    .describe('May run or is at work; waits for others at a join; waits for an answer.'),
  question: anyObject.optional().describe('What it asks for, while it waits for that.'),
});

const bodyShape = z.looseObject({
  within: string,
  aliases: anyObject.describe('What the pass is about, such as its item and its index.'),
  outputs: z.record(string, anyObject).describe('By component, where the pass has values of its own.'),
  variables: anyObject.describe('Those that differ from the ones around, where the pass has its own.'),
});

export const stateShape = z.looseObject({
  run_id: string,
  event_id: whole.describe('Number of the event behind which this is the state.'),
  outputs: z.record(string, anyObject).describe('By component.'),
  variables: anyObject,
  tokens: z.array(tokenShape),
  bodies: z.array(bodyShape).describe('Passes of containers that have not ended.'),
  omitted: z
    .array(z.looseObject({ path: z.array(string), bytes: whole }))
    .describe('What is too large to be given, such as `["outputs", "LLM:A", "content"]`.'),
});

/** A state in 4 MiB at most: where not everything has room, the largest values are left out, and named. */
export function stateView(run: string, { seq, plan, state }: RunState): JsonObject {
  const walk = new TokenWalk(plan, state);
  const outputs = Object.entries(outputsOf(plan, state.cells)).map(
    ([id, ports]) => [id, sized(['outputs', id], ports)] as const,
  );
  const [variables, tokens, bodies] = [
    sized(['variables'], state.variables),
    sized(['tokens'], walk.tokens),
    sized(['bodies'], walk.bodies),
  ];
  const all = [...tokens, ...bodies, ...variables, ...outputs.flatMap(([, ports]) => ports)];
  const most = largestFitting(all, PAGE_BYTES);
  const fits = ({ bytes }: Sized): boolean => bytes <= most;
  const objectOf = (values: readonly Sized[]): JsonObject =>
    Object.fromEntries(values.filter(fits).map(({ path, value }) => [path.at(-1), value]));
  const listOf = (values: readonly Sized[]): Json[] => values.filter(fits).map(({ value }) => value);
  const omitted = all.filter((one) => !fits(one)).slice(0, MAX_OMITTED);
  return {
    ...{ run_id: run, event_id: seq },
    outputs: Object.fromEntries(outputs.map(([id, ports]) => [id, objectOf(ports)])),
    variables: objectOf(variables),
    tokens: listOf(tokens),
    bodies: listOf(bodies),
    omitted: omitted.map(({ path, bytes }) => ({ path, bytes })),
  };
}

/** A value with its place in the answer. */
interface Sized {
  readonly path: readonly string[];
  readonly value: Json;
  readonly bytes: number;
}

/** The most values that are named because they have no room. */
const MAX_OMITTED = 1_000;

function sized(path: readonly string[], values: JsonObject | readonly JsonObject[]): Sized[] {
  return Object.entries<Json>(values as JsonObject).map(([name, value]) => {
    return { path: [...path, name], value, bytes: utf8Length(JSON.stringify(value)) + utf8Length(name) };
  });
}

/** The bytes that a value may have so that all up to it have room together. */
function largestFitting(values: readonly Sized[], room: number): number {
  let used = 0;
  const sizes = values.map(({ bytes }) => bytes).sort((one, other) => one - other);
  const first = sizes.find((bytes) => {
    used += bytes;
    return used > room;
  });
  return first === undefined ? Number.POSITIVE_INFINITY : first - 1;
}

type Values = Pick<RunState['state'], 'cells' | 'variables'>;

/** Tokens and passes of a state, in the order in which they began. */
class TokenWalk {
  readonly tokens: JsonObject[] = [];
  readonly bodies: JsonObject[] = [];
  readonly #plan: Plan;
  readonly #root: Values;

  constructor(plan: Plan, state: RunState['state']) {
    this.#plan = plan;
    this.#root = state;
    for (const token of state.root.tokens) this.#add(token, '', state);
  }

  #add({ id, node: index, status, payload, frames = [] }: TokenState, within: string, around: Values): void {
    const node = this.#plan.nodes[index] as Node;
    const token: JsonObject = { component_id: node.id, token: id, within: within === '' ? null : within, status };
    this.tokens.push(status === 'waiting' && payload !== undefined ? { ...token, question: payload } : token);
    const body = this.#plan.scopes[node.body];
    for (const pass of frames) {
      const { key, values = around, aliases = {} } = pass;
      const path = `${within === '' ? '' : `${within}/`}${node.id}${key === '' ? '' : `/${key}`}`;
      this.bodies.push({
        within: path,
        aliases,
        outputs: values === this.#root ? {} : outputsOf(this.#plan, values.cells, body?.index),
        variables: values === around ? {} : differing(values.variables, around.variables),
      });
      for (const inner of pass.tokens) this.#add(inner, path, values);
    }
  }
}

/** By id of the node; those of one scope, or of all. */
function outputsOf({ nodes }: Plan, cells: Values['cells'], scope?: number): Record<string, JsonObject> {
  const found = nodes.flatMap(({ id, index, scope: own }): [string, JsonObject][] => {
    const outputs = scope === undefined || own === scope ? cells.get(index) : undefined;
    return outputs === undefined ? [] : [[id, outputs]];
  });
  return Object.fromEntries(found);
}

function differing(variables: JsonObject, around: JsonObject): JsonObject {
  const changed = Object.entries(variables).filter(([name, value]) => !isDeepStrictEqual(value, around[name]));
  return Object.fromEntries(changed);
}
