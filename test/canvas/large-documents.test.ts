/** Documents whose check would take long are refused with one issue; what is within the bounds has few issues. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { compile } from '../../src/canvas/compile.js';
import { builtInComponents, checkCanvas, loadCanvas } from '../../src/canvas/load-canvas.js';
import { createRegistry, defineComponent } from '../../src/components/component.js';
import type { Document } from '../../src/dsl/document.js';
import {
  MAX_BRACES,
  MAX_COMPONENTS,
  MAX_CONNECTIONS,
  MAX_NODES,
  MAX_PARAMETER_VALUES,
  MAX_REFERENCES,
} from '../../src/dsl/document-size.js';
import { MAX_VALUES } from '../../src/dsl/json-copy.js';
import { LONGEST_REFERENCE } from '../../src/dsl/reference.js';
import { EngineError } from '../../src/errors.js';

const component = (name: string, params: object, downstream: readonly string[] = []) => ({
  obj: { component_name: name, params },
  downstream,
  upstream: [],
});

const withMessage = (content: unknown, rest: object = {}) => ({
  components: { begin: component('Begin', {}, ['Message:A']), 'Message:A': component('Message', { content }) },
  ...rest,
});

const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

const withComponents = (count: number) => ({
  components: {
    begin: component('Begin', {}, ['M:0']),
    ...Object.fromEntries(
      times(count - 1, (at) => [`M:${at}`, component('Message', { content: ['x'] }, [`M:${at + 1}`])]),
    ),
    [`M:${count - 2}`]: component('Message', { content: ['x'] }),
  },
});

/** Components in the form with the fewest values. */
const flat = (count: number) => ({
  components: Object.fromEntries(times(count, (at) => [`M:${at}`, { name: 'Message', params: {} }])),
});

const secondVersion = (count: number) => ({
  version: 2,
  components: Object.fromEntries(
    times(count, (at) => [at === 0 ? 'begin' : `m_${at}`, { name: at === 0 ? 'Begin' : 'Message', params: {} }]),
  ),
});

const layout = (nodes: number, edges: number) => ({
  graph: {
    nodes: times(nodes, (at) => ({
      id: at === 0 ? 'begin' : `M:${at}`,
      data: { label: at === 0 ? 'Begin' : 'Message' },
    })),
    edges: times(edges, () => ({ source: 'begin', target: 'M:1' })),
  },
});

describe('a document that is too large is refused with one issue', () => {
  it.each<[string, unknown, RegExp]>([
    ['components', flat(MAX_COMPONENTS + 1), /has 6001 components; at most 6000/],
    ['components of version 2', secondVersion(MAX_COMPONENTS + 1), /has 6001 components; at most 6000/],
    ['nodes of a layout', layout(MAX_COMPONENTS + 1, 0), /has 6001 nodes; at most 6000/],
    ['edges of a layout', layout(2, MAX_CONNECTIONS + 1), /has 10001 edges; at most 10000/],
    [
      'edges',
      {
        components: {
          begin: component(
            'Begin',
            {},
            times(MAX_CONNECTIONS + 1, () => 'begin'),
          ),
        },
      },
      /has 10001 entries in "downstream" and "upstream"; at most 10000/,
    ],
    [
      'references',
      withMessage(['{a@b} '.repeat(MAX_REFERENCES + 1)]),
      /10001 references in texts; a document may have 10000/,
    ],
    ['references in many texts', withMessage(times(MAX_REFERENCES / 2 + 1, () => '{a@b}{a@b}')), /10002 references/],
    [
      'references of version 2',
      {
        version: 2,
        components: { begin: { name: 'Begin', params: { prologue: '{a@b}'.repeat(MAX_REFERENCES + 1) } } },
      },
      /10001 references/,
    ],
    ['parameters', withMessage(times(MAX_PARAMETER_VALUES, () => '')), /values in parameters; at most 10000/],
    [
      'parameters of version 2',
      {
        version: 2,
        components: { begin: { name: 'Begin', params: { inputs: times(MAX_PARAMETER_VALUES, () => 0) } } },
      },
      /values in parameters; at most 10000/,
    ],
    ['braces', withMessage(['{ '.repeat(MAX_BRACES + 1)]), /more than 50000 groups of opening braces/],
    [
      'segments',
      withMessage([`{env.${'a.'.repeat(500_000)}b}`]),
      new RegExp(`at most ${LONGEST_REFERENCE} are allowed`),
    ],
    ['values', withMessage(['x'], { history: times(MAX_VALUES, () => 0) }), /more than 50000 values/],
    [
      'values in a template file',
      { dsl: withMessage(['x'], { history: times(MAX_VALUES, () => 0) }) },
      /more than 50000 values/,
    ],
  ])('%s', (_, source, message) => {
    const { issues, document, plan } = checkCanvas(source);
    expect(issues).toMatchObject([{ code: 'too-large', severity: 'error', message: expect.stringMatching(message) }]);
    expect([document, plan]).toEqual([undefined, undefined]);
    expect(() => loadCanvas(source)).toThrow(expect.objectContaining({ code: 'DOCUMENT_INVALID' }));
  });
});

it.each([
  ['version 1', withComponents(MAX_NODES + 1)],
  ['version 2', secondVersion(MAX_NODES + 1)],
])('reads a document with more components than can run, and refuses to compile it: %s', (_, source) => {
  const { issues, document, plan } = checkCanvas(source);
  expect(Object.keys(document?.components ?? {})).toHaveLength(MAX_NODES + 1);
  expect(plan).toBeUndefined();
  const message = 'the document has 1001 components; at most 1000 can run, split the canvas';
  expect(issues).toMatchObject([{ code: 'too-large', severity: 'error', path: '$.components', message }]);
  expect(() => compile(document as Document, builtInComponents)).toThrow(message);
});

describe('a document of the largest size is checked', () => {
  it.each<[string, unknown]>([
    ['components', withComponents(MAX_NODES)],
    ['references', withMessage(['{sys.query} '.repeat(MAX_REFERENCES)])],
    ['braces', withMessage(['{ '.repeat(MAX_BRACES)])],
    ['a reference', withMessage([`{env.${'a'.repeat(LONGEST_REFERENCE - 4)}}`])],
  ])('%s', (_, source) => {
    expect(checkCanvas(source).plan).toBeDefined();
  });
});

describe('issues are bounded', () => {
  it.each<[string, unknown]>([
    ['references to many nodes that do not exist', withMessage([times(MAX_REFERENCES, (at) => `{z${at}@x}`).join('')])],
    ['many values of a wrong type', withMessage(times(9_000, () => 0))],
    [
      'many components with several problems each',
      {
        components: {
          begin: component('Begin', {}),
          ...Object.fromEntries(times(900, (at) => [`M:${at}`, component('Message', { content: times(9, () => 0) })])),
        },
      },
    ],
  ])('%s', (_, source) => {
    const { issues } = checkCanvas(source);
    expect(issues.length).toBeGreaterThan(10);
    expect(issues.length).toBeLessThanOrEqual(2_300);
  });
});

it('says how many problems of a component are not listed', () => {
  const { issues } = checkCanvas(withMessage(times(9_000, () => 0)));
  expect(issues.at(-1)?.message).toBe('Message: 8900 more problems of these parameters are not listed');
});

it('checks a component with thousands of categories', () => {
  const categories = Object.fromEntries(times(3_000, (at) => [`c${at}`, { to: ['Message:A'] }]));
  const { components } = withMessage(['x']);
  const sorting = component('Categorize', { llm_id: 'm', category_description: categories });
  const { issues, plan } = checkCanvas({
    components: { ...components, begin: component('Begin', {}, ['Categorize:A']), 'Categorize:A': sorting },
  });
  expect(issues.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(plan).toBeDefined();
});

it('reports a component that cannot be made as an issue', () => {
  const broken = defineComponent({
    type: 'Broken',
    summary: 'Cannot be made.',
    params: z.looseObject({}),
    outputs: {},
    create() {
      throw new EngineError('TEMPLATE_TOO_LARGE', 'The template is too large.');
    },
  });
  const registry = createRegistry([...new Set(builtInComponents.values()), broken]);
  const source = { components: { begin: component('Begin', {}, ['B:A']), 'B:A': component('Broken', {}) } };
  const { issues, plan } = checkCanvas(source, { registry });
  expect(plan).toBeUndefined();
  expect(issues).toMatchObject([
    { code: 'params-invalid', severity: 'error', component: 'B:A', message: 'Broken: The template is too large.' },
  ]);
});
