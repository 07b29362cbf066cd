/**
 * What is kept with the token of a node until it runs again: `nodeState` of the engine, by name. A part that is written leaves the others.
 *
 * ```text
 * memo     what the step stored with its question
 * input    the input as the `before` hook made it, so that the hook has its effects once
 * output   of a node that had ended before its graph stopped behind it
 * answers  those to its own questions that it was given before, by suffix
 * nested   where the steps stand that run inside it
 * ```
 */
import type { NodeActivation } from '../../graph/activation.js';
import { readStoredValue, type StoredValue, storeValue, type ValueCodec } from '../../graph/typed.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';

export type KeptPart = 'memo' | 'input' | 'output' | 'answers' | 'nested';

/** Writes parts down. */
export function keep(at: NodeActivation, parts: Readonly<Partial<Record<KeptPart, Json>>>): void {
  at.say({ type: 'progress', nodeState: { ...allOf(at), ...parts } });
}

/** A part that is no value of the program; undefined when it was never kept. */
export function keptJson(at: NodeActivation, part: KeptPart): Json | undefined {
  const { nodeState } = at;
  return isJsonObject(nodeState) && Object.hasOwn(nodeState, part) ? nodeState[part] : undefined;
}

/** A value that was kept; undefined when it never was. */
export function keptValue(
  at: NodeActivation,
  codec: ValueCodec,
  part: KeptPart,
): { readonly value: unknown } | undefined {
  const stored = keptJson(at, part);
  return stored === undefined ? undefined : { value: readStoredValue(codec, stored as unknown as StoredValue) };
}

/** A value as a part. @throws EngineError VALUE_NOT_STORABLE naming the path below that of the node */
export function storedPart(at: NodeActivation, codec: ValueCodec, part: KeptPart, value: unknown): Json {
  return storeValue(codec, value, `${at.path}.${part}`) as unknown as Json;
}

function allOf({ nodeState }: NodeActivation): JsonObject {
  return isJsonObject(nodeState) ? nodeState : {};
}
