/** The editor's model, without a page: edits, undo, places, references, and what is written. */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { toV2 } from '../../../src/dsl/convert.js';
import { changeParams, renameComponent } from '../../../src/dsl/edit/index.js';
import { parseDocument, readDocument } from '../../../src/dsl/read.js';
import type { JsonObject } from '../../../src/json.js';
import { layOut } from '../../../web/canvas/layout/lay-out.js';
import { sceneOf } from '../../../web/canvas/layout/scene.js';
import { byName, type CatalogueEntry } from '../../../web/editor/model/catalogue.js';
import {
  addConnection,
  addNoteAt,
  addOfType,
  clipText,
  duplicate,
  pasteText,
  removeAll,
  wrapIn,
} from '../../../web/editor/model/commands.js';
import { EditorStore, editorDrawing, editorPlacement } from '../../../web/editor/model/editor-store.js';
import { beginHistory, MAX_STEPS, redo, takeStep, undo } from '../../../web/editor/model/history.js';
import { referencesIn, sourcesFor } from '../../../web/editor/model/references.js';
import { firstParams } from '../../../web/editor/model/starters.js';
import { wayOfHandle } from '../../../web/editor/model/ways.js';
import { skippedUnless } from '../../support/skipped.js';

const example = async (name: string): Promise<JsonObject> =>
  JSON.parse(await readFile(new URL(`../../../examples/${name}/canvas.json`, import.meta.url), 'utf8'));

const entry = (name: string, more: Partial<CatalogueEntry> = {}): CatalogueEntry => ({
  name,
  aliases: [],
  canvas: 'agent',
  group: 'flow',
  summary: '',
  parameters: { type: 'object', properties: {} },
  outputs: [],
  has_body: false,
  body_start: null,
  chooses_targets: false,
  speaks: false,
  asks: false,
  hears: false,
  is_entry: false,
  ...more,
});

const LLM = entry('LLM', {
  parameters: {
    type: 'object',
    properties: { llm_id: { type: 'string' }, prompts: { type: 'array', items: {} } },
    required: ['llm_id'],
  },
  outputs: [{ name: 'content', type: 'string', description: '' }],
});
const LOOP = entry('Loop', { has_body: true, body_start: 'LoopItem' });

function open(dsl: JsonObject): EditorStore {
  const document = parseDocument(dsl);
  const store = new EditorStore({ dsl, document });
  const drawing = editorDrawing(document);
  const placement = layOut(
    sceneOf(drawing, false),
    ({ boxes }) => new Map(boxes.map(({ id }, at) => [id, { x: at * 400, y: 0 }])),
  );
  store.setSpots(new Map([...placement!].map(([id, { x, y }]) => [id, { x, y }])));
  return store;
}

const spotOf = (store: EditorStore, id: string) => store.state.spots?.get(id);

describe('the history', () => {
  it('goes back and forward through the states themselves', () => {
    const first = { number: 1 };
    const history = takeStep(takeStep(beginHistory(first), { number: 2 }), { number: 3 });
    const back = undo(undo(history));
    expect(back.present).toBe(first);
    expect(undo(back)).toBe(back);
    expect(redo(redo(back)).present).toEqual({ number: 3 });
    expect(takeStep(back, { number: 4 }).future).toEqual([]);
  });

  it('takes typing on as one step, until a pause or another field', () => {
    let history = beginHistory('');
    history = takeStep(history, 'a', { about: 'x', atMs: 0 });
    history = takeStep(history, 'ab', { about: 'x', atMs: 500 });
    history = takeStep(history, 'abc', { about: 'x', atMs: 4_000 });
    history = takeStep(history, 'abcd', { about: 'y', atMs: 4_100 });
    expect(history.past).toEqual(['', 'ab', 'abc']);
    expect(takeStep(undo(history), 'z', { about: 'y', atMs: 4_200 }).past).toEqual(['', 'ab', 'abc']);
  });

  it('keeps a bounded number of steps', () => {
    let history = beginHistory(0);
    for (let step = 1; step <= MAX_STEPS + 50; step += 1) history = takeStep(history, step);
    expect(history.past).toHaveLength(MAX_STEPS);
    expect(history.past[0]).toBe(50);
  });
});

describe('the store of the editor', () => {
  it('writes what was loaded until something is edited, and again after an undo', async () => {
    const dsl = await example('branch');
    const store = open(dsl);
    expect(store.dsl).toBe(dsl);
    store.edit((document) => renameComponent(document, 'begin', 'Here'));
    expect(store.dsl).not.toEqual(dsl);
    store.undo();
    expect(store.dsl).toBe(dsl);
    store.redo();
    expect(parseDocument(store.dsl).components.begin?.name).toBe('Here');
  });

  it('leaves all that an edit does not concern as it is written', async () => {
    const dsl = await example('hello');
    const strange = { ...dsl, canvas_note: { by: 'RAGFlow' } } as JsonObject;
    const components = strange.components as Record<string, JsonObject>;
    const begin = components.begin as JsonObject;
    components.begin = { ...begin, ui: { fold: true }, obj: { ...(begin.obj as JsonObject), _frozen: 1 } };
    const store = open(strange);
    const message = Object.keys(store.document.components).find((id) => id !== 'begin') as string;
    store.edit((document) => changeParams(document, message, { content: ['Other'] }));
    const after = store.dsl as { components: Record<string, JsonObject> } & JsonObject;
    expect(after.components.begin).toEqual(components.begin);
    expect(after.canvas_note).toEqual({ by: 'RAGFlow' });
    expect(Object.keys(after)).toEqual(Object.keys(strange));
    expect(after.components[message]).toMatchObject({ obj: { params: { content: ['Other'] } } });
  });

  it('says nothing of a selection in which nothing changes, and forgets what is gone', async () => {
    const store = open(await example('hello'));
    const message = Object.keys(store.document.components).find((id) => id !== 'begin') as string;
    const said: (readonly string[])[] = [];
    const subscription = store.selection$.subscribe((ids) => said.push(ids));
    store.select([message]);
    store.edit((document) => changeParams(document, message, { content: ['Other'] }));
    store.undo();
    removeAll(store, [message]);
    subscription.unsubscribe();
    expect(said).toEqual([[], [message], []]);
  });

  it('adds behind another component and in front of what that led to, beside what stands there', async () => {
    const store = open(await example('hello'));
    const [target] = store.document.components.begin!.downstream;
    addOfType(store, LLM, { behind: { from: 'begin', to: target! }, model: 'best' });
    const [added] = store.state.selection;
    expect(store.document.components[added!]).toMatchObject({
      downstream: [target],
      params: { llm_id: 'best', prompts: [{ role: 'user', content: '{sys.query}' }] },
    });
    expect(store.document.components.begin!.downstream).toEqual([added]);
    const drawing = editorDrawing(store.document);
    const placement = editorPlacement(drawing, store.state.spots!);
    const [one, other] = [placement.get(added!)!, placement.get(target!)!];
    expect(one.y >= other.y + other.height || one.x >= other.x + other.width || other.x >= one.x + one.width).toBe(
      true,
    );
    store.undo();
    expect(store.document.components.begin!.downstream).toEqual([target]);
    expect(store.state.selection).toEqual([]);
  });

  it('puts what chooses in front of another one by its last way', async () => {
    const store = open(await example('hello'));
    const [target] = store.document.components.begin!.downstream;
    const conditions = { minItems: 1, type: 'array', items: { type: 'object', properties: {} } };
    const choosing = entry('Switch', { parameters: { properties: { conditions }, required: ['conditions'] } });
    addOfType(store, choosing, { behind: { from: 'begin', to: target! } });
    const [added] = store.state.selection;
    expect(store.document.components[added!]).toMatchObject({
      downstream: [target],
      params: { end_cpn_ids: [target] },
    });
    store.undo();
    expect(store.state.canUndo).toBe(false);
  });

  it('says why a connection is refused, and changes nothing', async () => {
    const store = open(await example('hello'));
    const { document } = store;
    expect(addConnection(store, { from: 'begin', to: 'begin' })?.code).toBe('itself');
    expect(store.state.refusal?.message).toContain('itself');
    expect(store.document).toBe(document);
    expect(store.state.canUndo).toBe(false);
  });

  it('moves nodes, which is written into the layout with all places', async () => {
    const store = open(await example('hello'));
    store.move(new Map([['begin', { x: 500, y: 321 }]]));
    const nodes = (store.dsl.graph as { nodes: { id: string; position: object }[] }).nodes;
    expect(nodes.find(({ id }) => id === 'begin')?.position).toMatchObject({ x: 500, y: 321 });
    expect(new Set(nodes.map(({ id }) => id)).size).toBe(Object.keys(store.document.components).length);
    store.undo();
    expect(store.state.canUndo).toBe(false);
  });

  it('moves nodes also where a file has no layout', async () => {
    const dsl = toV2(parseDocument(await example('hello'))).canvas;
    const store = open(dsl);
    store.move(new Map([['begin_', { x: 7, y: 8 }]]));
    expect(spotOf(store, 'begin_')).toEqual({ x: 7, y: 8 });
    expect(readDocument(store.dsl).document?.version).toBe(2);
    addOfType(store, LLM, { behind: { from: 'begin_' } });
    expect(Object.keys(parseDocument(store.dsl).components)).toHaveLength(3);
  });

  it('copies with bodies, between documents too, and pastes beside', async () => {
    const store = open(await example('loop'));
    const loop = Object.values(store.document.components).find(({ type }) => type === 'Loop')!;
    const text = clipText(store.document, [loop.id])!;
    expect(pasteText(store, text)).toBeUndefined();
    const [pasted] = store.state.selection;
    expect(pasted).not.toBe(loop.id);
    expect(spotOf(store, pasted!)).toEqual({ x: spotOf(store, loop.id)!.x + 40, y: spotOf(store, loop.id)!.y + 40 });
    const other = open(await example('hello'));
    pasteText(other, text);
    expect(Object.values(other.document.components).some(({ type }) => type === 'Loop')).toBe(true);
    expect(pasteText(other, 'nothing of ours')).toBeUndefined();
    expect(pasteText(other, '{"kind":"runnel/components","components":[{}]}')?.code).toBe('clip-invalid');
    parseDocument(other.dsl);
  });

  it('doubles and deletes, containers with their bodies, and notes', async () => {
    const store = open(await example('loop'));
    const before = Object.keys(store.document.components).length;
    const loop = Object.values(store.document.components).find(({ type }) => type === 'Loop')!;
    duplicate(store, [loop.id]);
    addNoteAt(store, { x: 1, y: 2 }, 'Todo');
    const [note] = store.state.selection;
    expect(editorDrawing(store.document).notes).toMatchObject([{ id: note, name: 'Todo' }]);
    removeAll(store, [note!, loop.id]);
    expect(editorDrawing(store.document).notes).toEqual([]);
    expect(Object.keys(store.document.components)).toHaveLength(before);
    expect(removeAll(store, ['begin'])?.code).toBe('entry-needed');
  });

  it('wraps a selection into a container, which stands where its members stood', async () => {
    const store = open(await example('hello'));
    const [target] = store.document.components.begin!.downstream;
    wrapIn(store, [target!], LOOP);
    const [container] = store.state.selection;
    expect(store.document.components[target!]?.parent).toBe(container);
    const placement = editorPlacement(editorDrawing(store.document), store.state.spots!);
    expect(placement.get(container!)!.width).toBeGreaterThan(placement.get(target!)!.x + placement.get(target!)!.width);
    const written = parseDocument(store.dsl);
    expect(written.components[target!]?.parent).toBe(container);
  });

  it('draws ways that lead nowhere yet, and knows which handle is which', async () => {
    const store = open(await example('branch'));
    const node = Object.values(store.document.components).find(({ type }) => type === 'Switch')!;
    store.edit((document) =>
      changeParams(document, node.id, { conditions: [{ items: [] }, { items: [] }], end_cpn_ids: [] }),
    );
    const drawn = editorDrawing(store.document).nodes.find(({ id }) => id === node.id)!;
    expect(drawn.branches.map(({ kind }) => kind)).toEqual(['case', 'case', 'else']);
    expect(wayOfHandle(drawn, 'branch-1')).toEqual({ kind: 'case', index: 1 });
    expect(wayOfHandle(drawn, 'branch-2')).toEqual({ kind: 'else' });
    expect(wayOfHandle(drawn, 'exit')).toEqual({ kind: 'next' });
  });
});

const FOLDER = process.env.RAGFLOW_TEMPLATES ?? '';
const FILES = FOLDER === '' ? ['none'] : readdirSync(FOLDER).filter((name) => name.endsWith('.json'));

describe('files of RAGFlow', () => {
  it.skipIf(FOLDER === '').each(FILES)(
    skippedUnless(FOLDER !== '', 'no folder at RAGFLOW_TEMPLATES', 'keep all of %s that an edit is not about'),
    (name) => {
      const file = JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8'));
      const dsl = (file.dsl ?? file) as { components: JsonObject; graph?: JsonObject } & JsonObject;
      const document = readDocument(dsl).document!;
      const store = new EditorStore({ dsl, document });
      const id = Object.keys(document.components).at(-1)!;
      store.edit((now) => changeParams(now, id, { ...document.components[id]!.params, probe: 1 }));
      const { components, graph, ...others } = store.dsl;
      const { components: before, graph: layout, ...rest } = dsl;
      expect(others).toEqual(rest);
      expect({ ...(components as JsonObject), [id]: 0 }).toEqual({ ...before, [id]: 0 });
      expect((components as Record<string, JsonObject>)[id]).toMatchObject(before[id] as JsonObject);
      if (layout !== undefined) expect((graph as JsonObject).edges).toEqual(layout.edges);
    },
  );
});

describe('references', () => {
  const catalogue = byName([LLM, entry('Begin', { is_entry: true }), entry('Message')]);

  it('come from what may run before, and are told from those that lead nowhere', async () => {
    const store = open(await example('hello'));
    const [target] = store.document.components.begin!.downstream;
    addOfType(store, LLM, { behind: { from: 'begin', to: target! } });
    const [model] = store.state.selection;
    const { document } = store;
    const keys = sourcesFor(document, target!, catalogue).map(({ key }) => key);
    expect(keys).toContain(`${model}@content`);
    expect(keys).toContain('sys.query');
    expect(keys).not.toContain('item');
    expect(sourcesFor(document, 'begin', catalogue).some(({ key }) => key === `${model}@content`)).toBe(false);
    const problems = (text: string, id: string) =>
      referencesIn(text, { document, id, catalogue }).map(({ problem }) => problem);
    expect(problems(`{${model}@content} {sys.query}`, target!)).toEqual([undefined, undefined]);
    expect(problems(`{${model}@content}`, 'begin')).toEqual(['not-before']);
    expect(problems('{Gone:A@x} {env.none} {item}', target!)).toEqual(['no-component', 'no-variable', 'no-body']);
    expect(problems(`{${model}@contents}`, target!)).toEqual(['no-output']);
  });

  it('know the short names of bodies', async () => {
    const { document } = open(await example('iteration'));
    const inner = Object.values(document.components).find(({ parent }) => parent !== undefined)!;
    expect(sourcesFor(document, inner.id, catalogue).map(({ key }) => key)).toContain('item');
  });
});

describe('what new components begin with', () => {
  it('is the least that the schema asks for', () => {
    const schema: JsonObject = {
      properties: {
        conditions: {
          minItems: 1,
          type: 'array',
          items: { type: 'object', properties: { items: { type: 'array' } }, required: ['items'] },
        },
        top_n: { $ref: '#/$defs/number' },
        mode: { anyOf: [{ type: 'string', enum: ['fast', 'slow'] }, { type: 'null' }] },
      },
      required: ['conditions', 'top_n', 'mode'],
      $defs: { number: { type: 'integer', minimum: 3 } },
    };
    expect(firstParams(schema, undefined)).toEqual({ conditions: [{ items: [] }], top_n: 3, mode: 'fast' });
  });
});
