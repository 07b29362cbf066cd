/** Random edits of many documents: each keeps the document whole, in step with its layout, and convertible; and none changes what it was given. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { toV1, toV2, v2ToV1 } from '../../../src/dsl/convert.js';
import type { Document } from '../../../src/dsl/document.js';
import {
  addComponent,
  addVariable,
  changeId,
  changeParams,
  connect,
  copyComponents,
  disconnect,
  type Edit,
  handleErrors,
  moveComponents,
  pasteComponents,
  placeComponents,
  removeComponents,
  removeVariable,
  renameComponent,
  renameVariable,
  resizeContainer,
  resolverOf,
  targetsOf,
  waysOf,
  wrapComponents,
} from '../../../src/dsl/edit/index.js';
import { readDocument } from '../../../src/dsl/read.js';
import { rebuildComponents } from '../../../src/dsl/rebuild.js';
import type { Json, JsonObject } from '../../../src/json.js';
import { property, type Random } from '../../support/random.js';
import { documentText } from '../load-document.js';

const EXAMPLES = path.resolve('examples');

const MINIMAL = { components: { begin: { obj: { component_name: 'Begin', params: {} }, downstream: [] } } };

const FILES: readonly (readonly [name: string, source: unknown])[] = [
  ['a document with nothing but a Begin', MINIMAL],
  ...['parcel-desk.json', 'parcel-layout.json', 'parcel-short.v2.json'].map(
    (name) => [name, documentText(name)] as const,
  ),
  ...readdirSync(EXAMPLES)
    .filter((name) => existsSync(path.join(EXAMPLES, name, 'canvas.json')))
    .map((name) => [`example ${name}`, readFileSync(path.join(EXAMPLES, name, 'canvas.json'), 'utf8')] as const),
];

const TYPES = [
  'LLM',
  'Agent',
  'Message',
  'Switch',
  'Categorize',
  'Loop',
  'Iteration',
  'Parallel',
  'UserFillUp',
  'Begin',
];

/** Parameters of types whose ways are in them. */
const PARAMS: Readonly<Record<string, JsonObject>> = {
  Switch: {
    conditions: [
      { logical_operator: 'and', items: [{ cpn_id: 'begin@x', operator: '=', value: '1' }], to: [] },
      { logical_operator: 'or', items: [], to: [] },
    ],
    end_cpn_ids: [],
  },
  Categorize: {
    category_description: { yes: { description: 'y', examples: ['a'], to: [] }, no: { examples: [], to: [] } },
  },
  Agent: {
    tools: [{ component_name: 'Agent', id: 'Agent:Helper', name: 'Helper', params: { llm_id: 'm', tools: [] } }],
  },
};

/** How often each kind of edit was done, and not refused. */
const tally = new Map<string, number>();

const counted = (kind: string, edit: Edit): Edit => {
  if (edit.refused === undefined) tally.set(kind, (tally.get(kind) ?? 0) + 1);
  return edit;
};

/** One edit with arguments of which most make sense. */
function randomEdit(random: Random, document: Document): Edit {
  const all = Object.values(document.components);
  const ids = all.map(({ id }) => id);
  const one = random.pick(all);
  const other = random.pick(all);
  const way = random.pick(waysOf(one));
  switch (random.int(16)) {
    case 0:
    case 1: {
      const type = random.pick(TYPES);
      const parent = random.chance(0.3) ? { parent: random.pick(ids) } : {};
      const params = PARAMS[type] ?? { text: `{${one.id}@content} and {{sys.query}}` };
      const targets = targetsOf(one, way, resolverOf(document));
      const to = targets.length > 0 && random.chance(0.5) ? { to: random.pick(targets) } : {};
      const behind = random.chance(0.5) ? { behind: { from: one.id, way, ...to } } : {};
      return counted('addComponent', addComponent(document, { type, params, ...parent, ...behind }));
    }
    case 2:
    case 3:
      return counted('connect', connect(document, { from: one.id, to: other.id, way }));
    case 4: {
      const targets = targetsOf(one, way, resolverOf(document));
      return counted(
        'disconnect',
        disconnect(document, { from: one.id, to: targets.length > 0 ? random.pick(targets) : other.id, way }),
      );
    }
    case 5:
      return counted('renameComponent', renameComponent(document, one.id, `Name ${random.int(1_000)}`));
    case 6:
      return counted(
        'changeId',
        changeId(document, one.id, document.version === 1 ? `X:${random.int(50)}` : `x_${random.int(50)}`),
      );
    case 7:
      return counted(
        'changeParams',
        changeParams(document, one.id, {
          ...one.params,
          note: `${random.int(9)} {${other.id}@content} {env.v${random.int(20)}}`,
        }),
      );
    case 8:
      return counted(
        'wrapComponents',
        wrapComponents(document, random.some(ids, 0.3), { type: random.pick(['Loop', 'Iteration', 'Parallel']) }),
      );
    case 9:
      return counted('removeComponents', removeComponents(document, random.some(ids, 0.15)));
    case 10:
    case 11: {
      const parent = random.chance(0.4) ? undefined : random.pick(containersOf(document));
      return counted('moveComponents', moveComponents(document, random.some(ids, 0.2), { parent }));
    }
    case 12: {
      const id = random.pick(containersOf(document)) ?? one.id;
      const size = { width: 300 + random.int(900), height: 200 + random.int(900) };
      return counted('resizeContainer', resizeContainer(document, id, size));
    }
    case 13:
      return counted('handleErrors', handleErrors(document, one.id, random.pick(['none', 'goto', 'comment'] as const)));
    case 14: {
      const names = Object.keys(document.variables);
      const name = names.length > 0 ? random.pick(names) : 'none';
      if (random.chance(0.5))
        return counted('addVariable', addVariable(document, `v${random.int(20)}`, { type: 'string', value: '' }));
      return random.chance(0.3)
        ? removeVariable(document, name)
        : counted('renameVariable', renameVariable(document, name, `v${random.int(20)}`));
    }
    default: {
      const clip = JSON.parse(JSON.stringify(copyComponents(document, random.some(ids, 0.3))));
      if (random.chance(0.3))
        return placeComponents(document, { [one.id]: { x: random.int(900), y: random.int(900) } });
      return counted('pasteComponents', pasteComponents(document, clip, random.chance(0.3) ? { parent: one.id } : {}));
    }
  }
}

const containersOf = ({ components }: Document): readonly (string | undefined)[] => {
  const ids = Object.values(components).flatMap(({ id, type }) =>
    ['loop', 'iteration', 'parallel'].includes(type.toLowerCase()) ? [id] : [],
  );
  return ids.length > 0 ? ids : [undefined];
};

/** The file of a document. */
const written = (document: Document): JsonObject => (document.version === 1 ? toV1(document) : toV2(document).canvas);

function read(source: unknown): Document {
  const { document } = readDocument(source);
  if (document === undefined) throw new Error('a test document cannot be read');
  return document;
}

const errorsOf = (document: Document): readonly string[] =>
  readDocument(written(document))
    .issues.filter(({ severity }) => severity === 'error')
    .map(({ code, path: at }) => `${code} ${at}`);

/** The same components, whatever the order of their keys. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Steps of a document, of which some are refused. */
function edits(random: Random, start: Document, count: number, look: (before: Document, after: Document) => void) {
  let document = start;
  let done = 0;
  for (let step = 0; step < count; step += 1) {
    const bytes = JSON.stringify(written(document));
    const edit = randomEdit(random, document);
    // Undo is the document before.
    expect(JSON.stringify(written(document))).toBe(bytes);
    if (edit.refused !== undefined) {
      expect(edit.refused.message).toMatch(/^\S.*\.$/s);
      continue;
    }
    look(document, edit.document);
    document = edit.document;
    done += 1;
    if (Object.keys(document.components).length > 40) document = start;
  }
  return done;
}

describe.each(FILES)('random edits of %s', (_, source) => {
  property('keep it valid, as a file says it, and convertible both ways', 4, (random) => {
    const start = read(source);
    const before = errorsOf(start);
    const done = edits(random, start, 40, (_before, after) => {
      expect(errorsOf(after).filter((error) => !before.includes(error))).toEqual([]);
      const again = read(written(after));
      expect(plain(again.components)).toEqual(plain(after.components));
      expect(again.graph).toEqual(after.version === 1 && after.graph !== undefined ? plain(after.graph) : undefined);
      expect(again.extra).toEqual(after.version === 1 ? start.extra : {});
      const { canvas, sidecar } = toV2(after);
      const back = toV1(read(v2ToV1(canvas, { sidecar })));
      expect(Object.keys(back.components as object).toSorted()).toEqual(
        Object.keys(toV1(after).components as object).toSorted(),
      );
      expect(toV2(read(back)).canvas.components).toEqual(canvas.components);
    });
    expect(done).toBeGreaterThan(0);
  });
});

describe('the layout after random edits', () => {
  afterAll(() => {
    // A kind that is always refused tells nothing.
    if (process.env.SEED === undefined) expect([...tally.values()].filter((count) => count > 20)).toHaveLength(14);
  });

  property('gives the components that RAGFlow would save', 40, (random) => {
    edits(random, read(MINIMAL), 60, (_before, after) => {
      // Variables are in no layout, so they make none.
      if (after.graph === undefined) return;
      const rebuilt = rebuildComponents(after.graph);
      const saved = toV1(after).components as Record<string, JsonObject>;
      expect(Object.keys(rebuilt).toSorted()).toEqual(Object.keys(saved).toSorted());
      for (const [id, entry] of Object.entries(saved)) expect(essence(rebuilt[id]), id).toEqual(essence(entry));
    });
  });

  property('keeps notes, tools and fields that no edit is about', 10, (random) => {
    const start = read(documentText('parcel-desk.json'));
    const note = { id: 'Note:1', type: 'noteNode', data: { label: 'Note', name: 'N', form: { text: 'x' } }, ours: 1 };
    const graph = { ...start.graph, viewport: { zoom: 2 }, nodes: [...((start.graph?.nodes as Json[]) ?? []), note] };
    edits(random, { ...start, graph: graph as JsonObject }, 30, (_before, after) => {
      expect(after.graph?.viewport).toEqual({ zoom: 2 });
      expect(after.graph?.nodes).toContainEqual(expect.objectContaining(note));
    });
  });
});

/** What a component does, without what RAGFlow's editor adds or leaves out where it is empty. */
function essence(entry: Json | undefined): unknown {
  const { obj, downstream, parent_id } = entry as JsonObject;
  const { component_name, params } = obj as JsonObject;
  const given = Object.entries(params as JsonObject).filter(
    ([name, value]) => !(['tools', 'exception_goto', 'exception_method'].includes(name) && isEmptyList(value)),
  );
  return {
    component_name,
    downstream: [...(downstream as string[])].sort(),
    parent_id,
    params: Object.fromEntries(given),
  };
}

const isEmptyList = (value: Json): boolean => Array.isArray(value) && value.length === 0;
