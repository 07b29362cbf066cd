/** What a call of a tool may say. */
import type { JsonObject } from '../json.js';

/** Passages and their documents by the names under which answers cite them. */
export interface References {
  readonly chunks: Readonly<Record<string, JsonObject>>;
  readonly doc_aggs: Readonly<Record<string, JsonObject>>;
}

/** A file that a tool made and that was kept; `url` is where a reader of the answer gets it. */
export interface Artifact {
  readonly name: string;
  readonly url: string;
  readonly mimeType: string;
  readonly bytes: number;
}

/** How a call ended well; the last event of every call. */
export interface ToolResult {
  readonly type: 'result';
  /** What the model reads. */
  readonly text: string;
  /** What other nodes read, by output name. */
  readonly outputs: JsonObject;
  /** Passages that the answer may cite. */
  readonly references?: References;
  readonly artifacts?: readonly Artifact[];
}

/** What a call may say: how far it is, a piece of what it found, and at the end its result. */
export type ToolEvent =
  | { readonly type: 'progress'; readonly message: string }
  | { readonly type: 'partial'; readonly text: string }
  | ToolResult;

/** The result of a call. */
export function toolResult(
  text: string,
  outputs: JsonObject,
  more: Pick<ToolResult, 'references' | 'artifacts'> = {},
): ToolResult {
  return { type: 'result', text, outputs, ...more };
}
