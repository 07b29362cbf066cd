/**
 * Places of what is drawn. RAGFlow's own documents are not in this repository: set RAGFLOW_TEMPLATES to a folder with them, as for
 * `test/canvas/ragflow-templates.test.ts`; otherwise that test is skipped.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Drawing, readDrawing } from '../../../web/canvas/drawing.js';
import { arrange } from '../../../web/canvas/layout/arrange.js';
import { layOut } from '../../../web/canvas/layout/lay-out.js';
import { type Placed, type Placement, sceneOf } from '../../../web/canvas/layout/scene.js';
import { BODY } from '../../../web/canvas/sizes.js';
import { skippedUnless } from '../../support/skipped.js';

const FOLDER = process.env.RAGFLOW_TEMPLATES ?? '';
const templates = FOLDER === '' ? [] : readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
const EXAMPLES = path.resolve(import.meta.dirname, '../../../examples');
const examples = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('canvas.json'),
);

const read = (folder: string, name: string): Drawing =>
  readDrawing(JSON.parse(readFileSync(path.join(folder, name), 'utf8')));

/** Pairs of nodes in one container that lie on each other, and nodes that reach out of theirs. */
function faultsOf({ nodes }: Drawing, placement: Placement): string[] {
  const faults: string[] = [];
  for (const [index, one] of nodes.entries()) {
    const at = placement.get(one.id)!;
    const around = one.parent === undefined ? undefined : placement.get(one.parent)!;
    if (around !== undefined && !isWithin(at, around)) faults.push(`${one.id} reaches out of ${one.parent}`);
    for (const other of nodes.slice(index + 1)) {
      if (other.parent === one.parent && doOverlap(at, placement.get(other.id)!))
        faults.push(`${one.id} on ${other.id}`);
    }
  }
  return faults;
}

const isWithin = (at: Placed, { width, height }: Placed): boolean =>
  at.x >= BODY.side && at.y >= BODY.top && at.x + at.width <= width && at.y + at.height <= height;

const doOverlap = (one: Placed, other: Placed): boolean =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;

it.each(examples)('places %s as its file has it, and tidied', (name) => {
  const drawing = read(EXAMPLES, name);
  const asInFile = layOut(sceneOf(drawing, false));
  expect(faultsOf(drawing, asInFile!)).toEqual([]);
  const tidied = layOut(sceneOf(drawing, true), arrange);
  expect(tidied?.size).toBe(drawing.nodes.length + drawing.notes.length);
  expect(faultsOf(drawing, tidied!)).toEqual([]);
});

describe.skipIf(templates.length === 0)(
  skippedUnless(templates.length > 0, 'no folder at RAGFLOW_TEMPLATES', 'templates of RAGFlow'),
  () => {
    it.each(templates)('places all of %s', (name) => {
      const drawing = read(FOLDER, name);
      const placement = layOut(sceneOf(drawing, false), arrange);
      expect(drawing.nodes.length).toBeGreaterThan(0);
      expect(faultsOf(drawing, placement!)).toEqual([]);
    });
  },
);

const card = (x: number, y: number, id: string) => ({
  id,
  position: { x, y },
  measured: { width: 200, height: 50 },
  data: { label: 'Message', name: id },
});

const drawingOf = (...nodes: ReturnType<typeof card>[]): Drawing =>
  readDrawing({
    components: Object.fromEntries(nodes.map(({ id }) => [id, { obj: { component_name: 'Message', params: {} } }])),
    graph: { nodes, edges: [] },
  });

it('keeps rows and columns of the file, with the room that cards need', () => {
  const drawing = drawingOf(card(0, 0, 'A'), card(230, 0, 'B'), card(0, 60, 'C'), card(900, 5, 'D'));
  const at = layOut(sceneOf(drawing, false))!;
  const [a, b, c, d] = ['A', 'B', 'C', 'D'].map((id) => at.get(id)!);
  expect([a!.y, b!.y]).toEqual([0, 0]);
  expect(d!.y).toBe(5);
  expect(c!.x).toBe(a!.x);
  expect(b!.x).toBeGreaterThan(a!.x + a!.width);
  expect(c!.y).toBeGreaterThan(a!.y + a!.height);
});

it('leaves to the layout what lies on each other in the file, and what it does not place', () => {
  expect(layOut(sceneOf(drawingOf(card(0, 0, 'A'), card(3, 2, 'B')), false))).toBeUndefined();
  const unplaced = readDrawing({ components: { begin: { obj: { component_name: 'Begin', params: {} } } } });
  expect(layOut(sceneOf(unplaced, false))).toBeUndefined();
  expect(layOut(sceneOf(unplaced, false), arrange)?.get('begin')).toMatchObject({ x: 0, y: 0 });
});

it('puts what follows to the right', () => {
  const drawing = read(EXAMPLES, 'loop/canvas.json');
  const at = layOut(sceneOf(drawing, true), arrange)!;
  for (const { from, to } of drawing.edges) expect(at.get(to)!.x).toBeGreaterThan(at.get(from)!.x);
});
