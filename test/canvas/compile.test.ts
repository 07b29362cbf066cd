/** From a document to a plan: what is refused, with its JSON path, and what the plan takes from components. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkAndCompile, compile } from '../../src/canvas/compile.js';
import { createRegistry, defineComponent, type Placement } from '../../src/components/component.js';
import type { Document, DocumentComponent } from '../../src/dsl/document.js';
import type { JsonObject } from '../../src/json.js';

const anyParams = z.looseObject({}) as unknown as z.ZodType<JsonObject>;
const step = defineComponent({
  type: 'Step',
  aliases: ['OldStep'],
  summary: 'Counts.',
  params: z.looseObject({
    count: z.number().int().default(1),
    deep: z.looseObject({ list: z.array(z.string()) }).optional(),
  }),
  outputs: { result: { type: 'string', description: 'The result.' } },
  primaryOutput: 'text',
  check: ({ count }) => (count > 99 ? ['count is too high.', 'really.'] : []),
  create: () => () => ({}),
});
const chooser = defineComponent<JsonObject>({
  type: 'Chooser',
  summary: 'Chooses.',
  params: anyParams,
  outputs: {},
  targets: ({ to }) => [String(to)],
  needs: ({ reads = [] }) => reads as string[],
  timeoutSeconds: null,
  create: () => () => ({}),
});
const box = defineComponent<JsonObject>({
  type: 'Box',
  summary: 'Has a body.',
  params: anyParams,
  outputs: {},
  isContainer: true,
  create: () => () => ({}),
});
const registry = createRegistry([step, chooser, box]);

interface Refusal {
  readonly what: string;
  readonly version?: 1 | 2;
  readonly components: Record<string, Partial<DocumentComponent>>;
  /** Severity, code, JSON path, and what the message says. */
  readonly issues: readonly (readonly [severity: string, code: string, path: string, says: string])[];
}

describe('compile', () => {
  it.each<Refusal>([
    {
      what: 'an unknown component',
      components: { a: { type: 'Stepp' } },
      issues: [['error', 'component-unknown', '$.components["a"].obj.component_name', '"Stepp". Did you mean "Step"?']],
    },
    {
      what: 'an unknown component of version 2',
      version: 2,
      components: { a: { type: 'Stepp' } },
      issues: [['error', 'component-unknown', '$.components["a"].name', '"Stepp"']],
    },
    {
      what: 'parameters of the wrong type, each with what was received',
      components: { a: { params: { count: 'three', deep: { list: ['x', 5] } } } },
      issues: [
        ['error', 'params-invalid', '$.components["a"].obj.params.count', 'expected number; received "three"'],
        ['error', 'params-invalid', '$.components["a"].obj.params.deep.list[1]', 'received 5'],
      ],
    },
    {
      what: 'a parameter that is missing',
      version: 2,
      components: { 'a b': { params: { deep: {} } } },
      issues: [['error', 'params-invalid', '$.components["a b"].params.deep.list', 'it is missing']],
    },
    {
      what: 'what a component finds wrong itself',
      components: { a: { params: { count: 100 } } },
      issues: [
        ['error', 'params-invalid', '$.components["a"].obj.params', 'count is too high.'],
        ['error', 'params-invalid', '$.components["a"].obj.params', 'really.'],
      ],
    },
    {
      what: 'a parent without a body',
      components: { a: {}, b: { parent: 'a' } },
      issues: [['error', 'parent-not-container', '$.components["b"].parent_id', '"a" is a Step, which has no body']],
    },
  ])('refuses $what', ({ components, issues, version = 1 }) => {
    const document = documentOf(components, version);
    const found = checkAndCompile(document, registry);
    expect(found.plan).toBeUndefined();
    expect(found.issues.map(({ severity, code, path }) => [severity, code, path])).toEqual(
      issues.map(([severity, code, path]) => [severity, code, path]),
    );
    for (const [at, [, , path, says]] of issues.entries()) {
      expect(found.issues[at]?.message).toContain(says);
      expect(() => compile(document, registry)).toThrowError(
        expect.objectContaining({ code: 'DOCUMENT_INVALID', message: expect.stringContaining(`${path}: `) }),
      );
    }
  });

  it('lists the problems of all components at once', () => {
    const { issues } = checkAndCompile(
      documentOf({ a: { type: 'X' }, b: { params: { count: 'x' } }, c: { params: { count: 100 } } }),
      registry,
    );
    expect(issues.map(({ component }) => component)).toEqual(expect.arrayContaining(['a', 'b', 'c']));
  });

  it('warns of a reference to nobody, and compiles', () => {
    const components = { a: { type: 'Chooser', params: { to: 'a', reads: ['nobody@x', 'a@x', 'sys.query'] } } };
    const { plan, issues } = checkAndCompile(documentOf(components), registry);
    expect(issues).toMatchObject([{ severity: 'warning', code: 'reference-unknown', component: 'a' }]);
    expect(plan?.nodes[0]?.unknownNeeds).toEqual(['nobody']);
  });

  it('finds components by older names, in any case', () => {
    const plan = compile(documentOf({ a: { type: ' oldSTEP ' } }), registry);
    expect(plan.nodes[0]?.type).toBe('Step');
  });

  it.each([
    {
      claim: 'a default value',
      params: { exception_method: 'comment', exception_default_value: 'sorry' },
      expected: { method: 'default', outputs: { text: 'sorry' }, targets: [] },
    },
    {
      claim: 'an empty default value, which the editor writes for none, as none',
      params: { exception_method: 'comment', exception_default_value: '', exception_goto: ['b'] },
      expected: { method: 'continue-at', outputs: {}, targets: [1] },
    },
    {
      claim: 'a default value of 0',
      params: { exception_method: 'comment', exception_default_value: 0 },
      expected: { method: 'default', outputs: { text: 0 }, targets: [] },
    },
    {
      claim: 'a goto',
      params: { exception_method: 'goto', exception_goto: ['b'] },
      expected: { method: 'continue-at', outputs: {}, targets: [1] },
    },
    {
      claim: 'a goto as text',
      params: { exception_method: 'goto', exception_goto: 'b' },
      expected: { method: 'continue-at', outputs: {}, targets: [1] },
    },
    {
      claim: 'the goto of a comment without a value',
      params: { exception_method: 'comment', exception_default_value: null, exception_goto: ['b'] },
      expected: { method: 'continue-at', outputs: {}, targets: [1] },
    },
    {
      claim: 'nothing without a method',
      params: { exception_default_value: 'x', exception_goto: ['b'] },
      expected: undefined,
    },
    {
      claim: 'nothing of a goto to nowhere',
      params: { exception_method: 'goto', exception_goto: [''] },
      expected: undefined,
    },
  ])('understands $claim', ({ params, expected }) => {
    const plan = compile(documentOf({ a: { params }, b: {} }), registry);
    expect(plan.nodes[0]?.onError).toEqual(expected);
  });

  it('lets a node that chooses its successors go nowhere with a default value', () => {
    const params = { to: 'b', exception_method: 'comment', exception_default_value: 'sorry' };
    const plan = compile(documentOf({ a: { type: 'Chooser', params }, b: {} }), registry);
    expect(plan.nodes[0]?.onError).toEqual({ method: 'default', outputs: { result: 'sorry' }, targets: [], next: [] });
  });

  it('asks the resolver for clocks', () => {
    const timeouts = (type: string, declared: number | null | undefined) =>
      declared === null ? undefined : type.length;
    const components = { a: {}, b: { type: 'Chooser', params: { to: 'a' } }, c: { type: 'Box' } };
    const plan = compile(documentOf(components), registry, { timeouts });
    expect(plan.nodes.map(({ timeoutMs }) => timeoutMs)).toEqual([4, undefined, undefined]);
  });

  it.each<[string, Parameters<typeof documentOf>[0], string]>([
    ['a successor', { a: { type: 'Chooser', params: { to: 'nobody' } } }, 'it may go to "nobody"'],
    [
      'an exception_goto',
      { a: { params: { exception_method: 'goto', exception_goto: ['a', 'nobody'] } } },
      'exception_goto names "nobody"',
    ],
  ])('warns of %s that does not exist, for documents hold leftovers that are never chosen', (_, components, says) => {
    const { plan, issues } = checkAndCompile(documentOf(components), registry);
    expect(plan).toBeDefined();
    expect(issues).toEqual([
      expect.objectContaining({ severity: 'warning', code: 'target-unknown', message: expect.stringContaining(says) }),
    ]);
  });

  it('tells a component where it stands', () => {
    const places: Placement[] = [];
    const spy = defineComponent<JsonObject>({
      ...box,
      type: 'Spy',
      create: (_, place) => {
        places.push(place);
        return () => ({});
      },
    });
    const components = {
      outer: { type: 'Box' },
      inner: { type: 'Spy', parent: 'outer', downstream: ['next'], name: 'Inner one' },
      before: { parent: 'outer', downstream: ['inner'] },
      next: { parent: 'outer' },
      leaf: { parent: 'inner' },
    };
    compile(documentOf(components), createRegistry([step, box, spy]));
    expect(places).toEqual([
      {
        id: 'inner',
        name: 'Inner one',
        downstream: ['next'],
        upstream: ['before'],
        containers: ['outer'],
        containerTypes: ['Box'],
        body: ['leaf'],
        isStreamed: false,
      },
    ]);
  });
});

function documentOf(components: Record<string, Partial<DocumentComponent>>, version: 1 | 2 = 1): Document {
  const list = Object.entries(components).map(([id, parts]): [string, DocumentComponent] => [
    id,
    { id, type: 'Step', name: parts.type ?? 'Step', params: {}, downstream: [], ...parts },
  ]);
  return {
    version,
    components: Object.fromEntries(list),
    globals: {},
    variables: {},
    history: [],
    retrieval: null,
    memory: [],
    path: [],
    extra: {},
  };
}
