import type { Json } from '../../json.js';
export function valueCodec(_definitions: readonly unknown[] = []) {
  return {
    toJson: (value: unknown, _path: string): Json => (value === undefined ? null : value) as Json,
    fromJson: (json: Json): unknown => json,
  };
}
export interface ValueDefinition {
  readonly name: string;
}
