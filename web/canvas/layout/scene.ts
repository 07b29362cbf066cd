/** What a layout is asked, as plain data that goes to a worker and comes back. */

import { canonicalId } from '../../../src/dsl/component-id.js';
import { ownObject, ownText, ownValue } from '../../../src/dsl/json-copy.js';
import type { Json } from '../../../src/json.js';
import type { Drawing } from '../drawing.js';
import { BODY, entryHeight, exitHeight, type Size, sizeOf } from '../sizes.js';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Something that takes room. */
export interface Box extends Size {
  readonly id: string;
  /** The container that it lies in. */
  readonly parent?: string;
  /** A container: `width` and `height` are the least that it takes. */
  readonly isContainer?: true;
  readonly isNote?: true;
  /** Where the file has it, with the size it has there. */
  readonly inFile?: Point & Size;
}

export interface Scene {
  readonly boxes: readonly Box[];
  /** Heights at which an edge leaves and enters, from the tops of its boxes. */
  readonly edges: readonly {
    readonly from: string;
    readonly to: string;
    readonly exit: number;
    readonly entry: number;
  }[];
}

/** Where a box lies within its container or on the canvas. */
export type Placed = Point & Size;
export type Placement = ReadonlyMap<string, Placed>;

/** What the worker is asked. */
export interface LayoutQuestion {
  readonly number: number;
  readonly scene: Scene;
}

/** What it answers. */
export interface LayoutAnswer {
  readonly number: number;
  readonly placement: Placement;
}

/** Notes are read at this width. */
const NOTE_WIDTH = 240;
const MAX_NOTE: Size = { width: 480, height: 400 };
const NOTE_LINE = 20;
const NOTE_CHARACTERS = 34;

/** The boxes of a drawing, with their places in the file unless it is to be tidied. */
export function sceneOf(drawing: Drawing, isTidied: boolean): Scene {
  const places = isTidied ? new Map<string, Point & Size>() : placesOf(drawing.layout);
  const byId = new Map(drawing.nodes.map((node) => [node.id, node]));
  const at = (id: string): { readonly inFile?: Point & Size } => {
    const inFile = places.get(id) ?? places.get(canonicalId(id));
    return inFile === undefined ? {} : { inFile };
  };
  return {
    boxes: [
      ...drawing.nodes.map((node): Box => {
        const { id, parent, shape } = node;
        const size = shape === 'container' ? { width: BODY.minWidth, height: BODY.minHeight } : sizeOf(node);
        return {
          id,
          ...(parent !== undefined && { parent }),
          ...size,
          ...(shape === 'container' && { isContainer: true }),
          ...at(id),
        };
      }),
      ...drawing.notes.map((note): Box => {
        const place = at(note.id);
        return { id: note.id, isNote: true, ...noteSize(note.text, place.inFile), ...place };
      }),
    ],
    edges: drawing.edges.flatMap(({ from, to, kind, branch }) => {
      const source = byId.get(from);
      const target = byId.get(to);
      if (source === undefined || target === undefined) return [];
      const exit = exitHeight(source, kind === 'exception' ? 'exception' : branch, 0);
      return [{ from, to, exit, entry: entryHeight(target) }];
    }),
  };
}

function noteSize(text: string, inFile: Size | undefined): Size {
  const lines = text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / NOTE_CHARACTERS)), 0);
  return {
    width: Math.min(MAX_NOTE.width, Math.max(NOTE_WIDTH, inFile?.width ?? 0)),
    height: Math.min(MAX_NOTE.height, Math.max(48 + lines * NOTE_LINE, inFile?.height ?? 0)),
  };
}

function placesOf(layout: readonly Json[]): ReadonlyMap<string, Point & Size> {
  const places = new Map<string, Point & Size>();
  for (const node of layout) {
    const id = ownText(node, 'id');
    const position = ownObject(node, 'position');
    const x = ownValue(position, 'x');
    const y = ownValue(position, 'y');
    if (id === undefined || !isNumber(x) || !isNumber(y)) continue;
    const measured = ownObject(node, 'measured');
    const place = { x, y, width: sizeIn(measured, node, 'width'), height: sizeIn(measured, node, 'height') };
    places.set(id, place);
    if (!places.has(canonicalId(id))) places.set(canonicalId(id), place);
  }
  return places;
}

function sizeIn(measured: unknown, node: unknown, name: 'width' | 'height'): number {
  const size = ownValue(node, name) ?? ownValue(measured, name);
  return isNumber(size) ? size : 0;
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}
