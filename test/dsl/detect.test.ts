import { describe, expect, it } from 'vitest';
import { detectVersion } from '../../src/dsl/schema-v1.js';

const entry = { obj: { component_name: 'Begin' } };

describe('detectVersion', () => {
  it.each<[string, unknown, unknown]>([
    ['version 2', { version: 2, components: {} }, 2],
    ['version 2 although an entry looks like version 1', { version: 2, components: { begin: entry } }, 2],
    ['a class name in obj', { components: { begin: entry } }, 1],
    ['one class name among entries without', { components: { a: {}, begin: entry } }, 1],
    ['version 99 with class names', { version: 99, components: { begin: entry } }, 1],
    ['the flat form', { components: { begin: { name: 'Begin', params: {} } } }, 1],
    ['a layout alone', { graph: { nodes: [{ id: 'begin' }] } }, 'graph-only'],
    ['a layout and empty components', { components: {}, graph: { nodes: [{}] } }, 'graph-only'],
    ['version 99', { version: 99, components: { begin_: { name: 'Begin', params: {} } } }, undefined],
    ['version 2 as a text', { version: '2', components: {} }, undefined],
    ['an empty class name', { components: { a: { obj: { component_name: '' } } } }, undefined],
    ['entries without obj', { components: { a: { downstream: [] } } }, undefined],
    ['empty components', { components: {} }, undefined],
    ['an empty layout', { graph: { nodes: [] } }, undefined],
    ['components that are a list', { components: [entry] }, undefined],
    ['a class name on the prototype of entries', { components: Object.create({ begin: entry }) }, undefined],
    ['nothing', {}, undefined],
    ['null', null, undefined],
    ['a list', [], undefined],
    ['a text', '{"version":2}', undefined],
  ])('%s', (_, value, kind) => expect(detectVersion(value)).toBe(kind));
});
