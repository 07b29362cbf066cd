/** What a tool of an MCP server gave, as the result of a call. */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { isTooDeep, type Json, type JsonObject } from '../../json.js';
import { type Files, MEDIA_TYPES } from '../../records/files.js';
import { quoteResponse, toolFailed } from '../failures.js';
import { type Artifact, artifactMarkdown, type ToolResult, toolResult } from '../tool-event.js';

/** Characters of a result that a model gets. */
const MAX_TEXT = 100_000;
/** Characters of the server's message about a failed call, from which a model may learn how to call. */
const MAX_ERROR = 1_000;
/** Files of one result that are stored. */
const MAX_FILES = 20;

/** Endings of the files that are stored, pictures and documents, and those of sounds by their media type. */
const PLAIN_ENDINGS = ['png', 'jpg', 'gif', 'webp', 'svg', 'pdf', 'json', 'csv', 'html'] as const;
const SOUNDS = {
  mpeg: 'mp3',
  mp3: 'mp3',
  wav: 'wav',
  'x-wav': 'wav',
  ogg: 'ogg',
  webm: 'webm',
  flac: 'flac',
  mp4: 'm4a',
};
const ENDINGS: ReadonlyMap<string, string> = new Map([
  ...PLAIN_ENDINGS.map((ending) => [MEDIA_TYPES[ending], ending] as const),
  ...Object.entries(SOUNDS).map(([type, ending]) => [`audio/${type}`, ending] as const),
]);

/** Where files are stored, and what no message repeats. */
export interface ResultContext {
  readonly files: Files | undefined;
  readonly secrets: readonly string[];
}

/**
 * Texts joined by line ends; images, sounds and other binary contents as files with links to them where there is a file store.
 *
 * Rejects with `TOOL_FAILED` when the server reports that the call failed, or gives nothing.
 */
export async function mcpResult(given: CallToolResult, { files, secrets }: ResultContext): Promise<ToolResult> {
  const { content, structuredContent, isError } = given;
  const structured = structuredContent as JsonObject | undefined;
  if (isError === true) {
    const words = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    throw toolFailed(`MCP server error: ${quoteResponse(words, secrets, MAX_ERROR) || 'it does not say why'}`);
  }
  if (isTooDeep(structured)) throw toolFailed('the MCP server gave structured contents that are nested too deeply');
  const artifacts: Artifact[] = [];
  const parts: string[] = [];
  for (const block of content) {
    const file = fileOf(block);
    parts.push(file === undefined ? textOf(block) : await keep(file, files, artifacts));
  }
  const written = parts.filter((part) => part !== '').join('\n');
  const text = bounded(written === '' && structured !== undefined ? JSON.stringify(structured) : written);
  if (text === '') throw toolFailed('the MCP server gave an empty result');
  const outputs: Record<string, Json> = { content: text, ...(structured === undefined ? {} : { structured }) };
  return toolResult(text, outputs, artifacts.length === 0 ? {} : { artifacts });
}

interface McpFile {
  readonly kind: string;
  readonly mimeType: string;
  readonly data: string;
}

function fileOf(block: ContentBlock): McpFile | undefined {
  if (block.type === 'image' || block.type === 'audio') {
    return { kind: block.type, mimeType: essence(block.mimeType), data: block.data };
  }
  if (block.type !== 'resource' || !('blob' in block.resource)) return undefined;
  const { mimeType, blob } = block.resource;
  return { kind: 'file', mimeType: essence(mimeType ?? ''), data: blob };
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource':
      return 'text' in block.resource ? block.resource.text : '';
    case 'resource_link':
      return `${block.name}: ${block.uri}`;
    default:
      return '';
  }
}

/** Its name is ours: a server's could be anything. */
async function keep(file: McpFile, files: Files | undefined, artifacts: Artifact[]): Promise<string> {
  const { kind, mimeType, data } = file;
  const ending = ENDINGS.get(mimeType);
  const bytes = Buffer.from(data, 'base64');
  const left = (why: string): string => `[${kind} of ${bytes.byteLength} bytes, not kept: ${why}]`;
  if (files === undefined) return left('there is no file store');
  if (ending === undefined) return left('its type is not known');
  if (artifacts.length >= MAX_FILES) return left(`a result has at most ${MAX_FILES} files`);
  const name = `${kind}-${artifacts.length + 1}.${ending}`;
  const id = await files.save({ name, mimeType, bytes });
  const url = `/api/v1/agents/attachments/${encodeURIComponent(id)}/download?ext=${ending}&filename=${name}`;
  const artifact: Artifact = { name, url, mimeType, bytes: bytes.byteLength };
  artifacts.push(artifact);
  return artifactMarkdown(artifact);
}

function essence(mimeType: string): string {
  return (mimeType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

function bounded(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… (cut; it had ${text.length} characters)` : text;
}
