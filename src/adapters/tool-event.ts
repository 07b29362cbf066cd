/** Events of tool calls, which tools and MCP servers produce and agents read; artifacts as text. */
import type { JsonObject } from '../json.js';
import type { TokenUsage } from '../models/chat-model.js';

/** Passages and their documents by the names under which answers cite them. */
export interface References {
  readonly chunks: Readonly<Record<string, JsonObject>>;
  readonly doc_aggs: Readonly<Record<string, JsonObject>>;
}

/** A file that a tool made and that was stored; `url` is where a reader of the answer gets it. */
export interface Artifact {
  readonly name: string;
  readonly url: string;
  readonly mimeType: string;
  readonly bytes: number;
}

/** How a call ended well; the last event of every call. */
export interface ToolResult {
  readonly type: 'result';
  /** Text for the model. */
  readonly text: string;
  /** Values for other nodes, by output name. */
  readonly outputs: JsonObject;
  /** Passages that the answer may cite. */
  readonly references?: References;
  readonly artifacts?: readonly Artifact[];
}

/** An event of a call: progress, a piece of what it found, what one call of a model took, and last its result. */
export type ToolEvent =
  | { readonly type: 'progress'; readonly message: string }
  | { readonly type: 'partial'; readonly text: string }
  | ({ readonly type: 'usage' } & TokenUsage)
  | ToolResult;

/** The result of a call. */
export function toolResult(
  text: string,
  outputs: JsonObject,
  more: Pick<ToolResult, 'references' | 'artifacts'> = {},
): ToolResult {
  return { type: 'result', text, outputs, ...more };
}

// Files that tools made, in the formats of their readers.

/** An artifact as it stands in the output `_ARTIFACTS`. */
export function artifactRecord({ name, url, mimeType, bytes }: Artifact): JsonObject {
  return { name, url, mime_type: mimeType, size: bytes };
}

/** An artifact in Markdown: an image is shown, anything else is offered for download. */
export function artifactMarkdown({ name, url, mimeType }: Artifact): string {
  const label = name.replace(/[[\]\\]/g, '\\$&');
  return mimeType.startsWith('image/') ? `![${label}](${url})` : `[Download ${label}](${url})`;
}
