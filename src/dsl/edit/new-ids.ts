/** Ids for components that an edit adds, in the spelling of the document's version. */

import { EngineError } from '../../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { canonicalId, v1KeyToV2Id } from '../component-id.js';
import type { Document } from '../document.js';
import { ownList, ownObject, ownText } from '../json-copy.js';
import { isSubAgent } from './forms.js';
import { subAgentIds } from './sub-agents.js';

/** What references can spell, in both versions. */
const ID = { 1: /^\w+(?::\w+)?$/, 2: /^[A-Za-z0-9]\w*$/ } as const;

/** Longest id and longest display name that an edit gives, in characters. */
const MAX_ID = 128;
export const MAX_NAME = 255;

/** Gives ids that are free, counting up. */
export class NewIds {
  readonly #version: Document['version'];
  readonly #taken: Set<string>;

  constructor({ version, components, graph }: Pick<Document, 'version' | 'components' | 'graph'>) {
    this.#version = version;
    this.#taken = new Set(Object.keys(components).map(canonicalId));
    // Notes, tools and sub-agents are nodes of the layout as well.
    for (const node of ownList(graph, 'nodes')) this.#taken.add(canonicalId(ownText(node, 'id') ?? ''));
    for (const { params } of Object.values(components)) {
      for (const id of subAgentIds(params)) this.#taken.add(canonicalId(id));
    }
  }

  /** An id such as `LLM:1`, or `llm_1` in version 2. */
  next(type: string): string {
    const word = type.replace(/\W+/g, '').replace(/^_+/, '') || 'Component';
    for (let count = 1; ; count += 1) {
      const key = `${word}:${count}`;
      const id = this.#version === 1 ? key : v1KeyToV2Id(key);
      if (this.take(id)) return id;
    }
  }

  /** Takes an id; false when another one is so similar that references could mean either. */
  take(id: string): boolean {
    const form = canonicalId(id);
    if (this.#taken.has(form)) return false;
    this.#taken.add(form);
    return true;
  }
}

/**
 * Parameters of an Agent whose sub-agents have ids of their own: one that another Agent has, or that has none, gets a new one, because in the
 * layout it is a node.
 *
 * @param own ids that these sub-agents have already
 */
export function withOwnSubAgents(params: JsonObject, ids: NewIds, own: ReadonlySet<string> = new Set()): JsonObject {
  const tools = ownList(params, 'tools');
  if (!tools.some(isSubAgent)) return params;
  const changed = tools.map((tool): Json => {
    if (!isSubAgent(tool) || !isJsonObject(tool)) return tool;
    const given = ownText(tool, 'id');
    const id = given !== undefined && (own.has(given) || ids.take(given)) ? given : ids.next('Agent');
    const inner = ownObject(tool, 'params');
    return { ...tool, id, ...(inner && { params: withOwnSubAgents(inner, ids, own) }) };
  });
  return { ...params, tools: changed };
}

/** Why an id cannot be used in a document; undefined when it can. */
export function problemOfId({ version }: Pick<Document, 'version'>, id: string): string | undefined {
  const example = version === 1 ? 'such as "LLM:Answer"' : 'such as "llm_answer"';
  if (id.length > MAX_ID) return `An id has at most ${MAX_ID} characters; this one has ${id.length}.`;
  if (!ID[version].test(id))
    return `${JSON.stringify(id)} is no id: references can spell letters, digits and "_", ${example}.`;
  try {
    v1KeyToV2Id(id);
  } catch (error) {
    if (!EngineError.is(error)) throw error;
    return error.message;
  }
  return undefined;
}

/** A display name that no component has yet: `LLM_0`, `LLM_1`. */
export function freeName({ components }: Pick<Document, 'components'>, type: string): string {
  const names = new Set(Object.values(components).map(({ name }) => name));
  for (let count = 0; ; count += 1) {
    const name = `${type}_${count}`;
    if (!names.has(name)) return name;
  }
}
