/** A draft that the server does not have yet, kept for the tab: it outlives a reload. */
import { isJsonObject, type JsonObject } from '../../../src/json.js';

export interface KeptDraft {
  readonly dsl: JsonObject;
  /** `update_time` of the draft that it was made from. */
  readonly updateTime: number;
}

/** Longer ones are not kept: the browser has some 5 million characters for all tabs' things of this page. */
const MAX_CHARACTERS = 4_000_000;

const nameOf = (agent: string): string => `runnel.editor.${agent}`;

/** Gives whether it is kept. */
export function keepDraft(storage: Storage, agent: string, draft: KeptDraft): boolean {
  const text = JSON.stringify(draft);
  try {
    if (text.length > MAX_CHARACTERS) throw new Error('too long');
    storage.setItem(nameOf(agent), text);
    return true;
  } catch {
    // An older one in its place would be taken for what was typed last.
    storage.removeItem(nameOf(agent));
    return false;
  }
}

export function forgetDraft(storage: Storage, agent: string): void {
  storage.removeItem(nameOf(agent));
}

/** What was kept; undefined when there is nothing, or nothing that can be read. */
export function keptDraft(storage: Storage, agent: string): KeptDraft | undefined {
  try {
    const value: unknown = JSON.parse(storage.getItem(nameOf(agent)) ?? 'null');
    if (!isJsonObject(value)) return undefined;
    const { dsl, updateTime } = value;
    return isJsonObject(dsl) && typeof updateTime === 'number' ? { dsl, updateTime } : undefined;
  } catch {
    return undefined;
  }
}
