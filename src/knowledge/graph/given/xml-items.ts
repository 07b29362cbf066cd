/** What the two forms of XML have in common: texts, lists inside of texts, and items that are read as a stream. */
import { createXmlReader, type XmlHandler } from '../../../documents/spreadsheets/xml-reader.js';
import { parseJson } from '../../../json.js';
import type { GraphEdge, GraphNode, RawItem } from './graph-document.js';
import { Problems } from './problems.js';

/** An item of XML while it is read: its fields are texts. */
export interface TextItem {
  readonly at: string;
  readonly fields: Map<string, string>;
}

/** Deepest nesting: neither form needs more. */
const MAX_DEPTH = 32;
/** UTF-16 units that are read at once. */
const PIECE = 65_536;

const LISTS: ReadonlySet<string> = new Set(['aliases', 'descriptions', 'chunks', 'titles']);
/** Fields of nodes and of edges that both forms write as attributes of their own. */
export const NODE_ATTRIBUTES = ['type', 'aliases', 'descriptions', 'chunks', 'titles'] as const;
export const EDGE_ATTRIBUTES = ['relation', 'explicit', 'descriptions', 'chunks'] as const;
/** What is read, also where other programs wrote it. */
const NODE_NAMES: ReadonlySet<string> = new Set([...NODE_ATTRIBUTES, 'id', 'name', 'description']);
const EDGE_NAMES: ReadonlySet<string> = new Set([...EDGE_ATTRIBUTES, 'source', 'target', 'weight', 'description']);

/**
 * Reads a text of XML with its first element of a name. Document types are refused, so nothing expands.
 *
 * @param made is given the line of what is being read
 * @throws EngineError BAD_REQUEST with line and column
 */
export function readXml(text: string, root: string, made: (line: () => number) => XmlHandler): void {
  const problems = new Problems();
  let isRoot = true;
  let handler: XmlHandler = {};
  const reader = createXmlReader(
    {
      open(name, attributes, tag) {
        if (isRoot && name !== root) throw new Error(`<${root}> is needed first; received <${name.slice(0, 100)}>`);
        isRoot = false;
        handler.open?.(name, attributes, tag);
      },
      close: (name) => handler.close?.(name),
      text: (content) => handler.text?.(content),
    },
    { maxDepth: MAX_DEPTH, isExact: true },
  );
  handler = made(() => reader.line);
  try {
    for (let at = 0; at < text.length; at += PIECE) reader.write(text.slice(at, at + PIECE));
    reader.end();
  } catch (error) {
    const { message } = error as Error;
    problems.add(/^\d+:\d+/.test(message) ? 'line and column' : `line ${reader.line}`, message);
  }
  if (isRoot) problems.add('the text', `<${root}> is needed`);
  problems.throwIfAny();
}

/** A node or edge as it is checked; what is no field of ours, or empty, is left out. */
export function rawItem({ at, fields }: TextItem, kind: 'node' | 'edge'): RawItem {
  const names = kind === 'node' ? NODE_NAMES : EDGE_NAMES;
  const own = [...fields].filter(([name, text]) => names.has(name) && text !== '');
  return { at, fields: Object.fromEntries(own.map(([name, text]) => [name, fieldOf(name, text)])) };
}

/** Lists are written as JSON; another text is a list of one. */
function fieldOf(name: string, text: string): unknown {
  if (LISTS.has(name)) return listIn(text);
  if (name === 'weight') return text.trim() === '' ? text : Number(text);
  if (name !== 'explicit') return text;
  const folded = text.trim().toLowerCase();
  return folded === 'true' || folded === '1' ? true : folded === 'false' || folded === '0' ? false : text;
}

function listIn(text: string): unknown {
  const trimmed = text.trim();
  if (!trimmed.startsWith('[')) return [text];
  // What is no JSON is a text that begins like a list.
  return parseJson(trimmed) ?? [text];
}

/** The fields of a node or edge as texts, without what is empty. */
export function textsOf(item: GraphNode | GraphEdge, names: readonly string[]): (readonly [string, string])[] {
  const fields = item as unknown as Readonly<Record<string, unknown>>;
  return names.flatMap((name) => {
    const value = fields[name];
    if (!Array.isArray(value)) return [[name, String(value)] as const];
    if (value.length === 0) return [];
    const list = value.map((one: unknown) => (isCountOfOne(one) ? one.id : one));
    return [[name, JSON.stringify(list)] as const];
  });
}

function isCountOfOne(value: unknown): value is { readonly id: string } {
  return typeof value === 'object' && value !== null && 'count' in value && value.count === 1;
}

/** Letters that XML cannot hold. */
const FORBIDDEN = /(?![\t\n\r\u007f-\u009f])\p{Cc}|[\p{Surrogate}\ufffe\uffff]/gu;
const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' },
  ...{ '\t': '&#9;', '\n': '&#10;', '\r': '&#13;' },
};

/** A text as XML holds it, also in attributes. */
export function escapeXml(text: string): string {
  return text.replace(FORBIDDEN, '\ufffd').replace(/[&<>"\t\n\r]/g, (letter) => ESCAPES[letter] ?? letter);
}
