import { describe, expect, it } from 'vitest';
import { migrateLegacy, needsMigration } from '../../src/dsl/migrate.js';
import { parseDocument } from '../../src/dsl/read.js';
import type { JsonObject } from '../../src/json.js';

const old: JsonObject = {
  components: {
    begin: { obj: { component_name: 'Begin', params: {} }, downstream: ['PDFGenerator:Report'], upstream: [] },
    'PDFGenerator:Report': {
      obj: {
        component_name: 'PDFGenerator',
        params: {
          exact: 'Splitter:Cut',
          text: 'see {Splitter:Cut@chunks}, {{ Splitter:Cut@chunks }} and {Splitter:Other@x}; Splitter:Cut stays in prose',
          list: [{ ref: '{PDFGenerator:Report@pdf_base64}' }],
          'Splitter:Cut': 'keys stay',
          count: 3,
        },
      },
      downstream: ['Splitter:Cut'],
      upstream: ['begin'],
    },
    'Splitter:Cut': {
      obj: { component_name: 'Splitter', params: {} },
      downstream: ['HierarchicalMerger:Cut'],
      upstream: ['PDFGenerator:Report'],
      parent_id: 'HierarchicalMerger:Cut',
    },
    'HierarchicalMerger:Cut': { obj: { component_name: 'HierarchicalMerger', params: {} }, downstream: [] },
  },
  path: ['begin', 'Splitter:Cut'],
  history: [['assistant', 'from {Splitter:Cut@chunks}']],
  messages: [{ id: 'Splitter:Cut' }],
  reference: [],
  globals: { 'sys.query': '{Splitter:Cut@chunks}' },
  graph: {
    nodes: [
      {
        id: 'Splitter:Cut',
        parentId: 'HierarchicalMerger:Cut',
        type: 'splitterNode',
        data: { label: 'Splitter', name: 'Splitter', form: { ref: '{Splitter:Cut@x}' } },
      },
      { id: 'PDFGenerator:Report', type: 'agentNode', data: { label: 'PDFGenerator', name: 'My Splitter' } },
    ],
    edges: [
      {
        id: 'xy-edge__PDFGenerator:Reportstart-Splitter:Cutend',
        source: 'PDFGenerator:Report',
        target: 'Splitter:Cut',
      },
    ],
  },
};

describe('migrateLegacy', () => {
  const migrated = migrateLegacy(old);

  it('renames ids, classes, references and whole-text ids in components', () => {
    expect(migrated.components).toEqual({
      begin: { obj: { component_name: 'Begin', params: {} }, downstream: ['DocGenerator:Report'], upstream: [] },
      'DocGenerator:Report': {
        obj: {
          component_name: 'DocGenerator',
          params: {
            exact: 'TokenChunker:Cut',
            text: 'see {TokenChunker:Cut@chunks}, {{ TokenChunker:Cut@chunks }} and {Splitter:Other@x}; Splitter:Cut stays in prose',
            list: [{ ref: '{DocGenerator:Report@pdf_base64}' }],
            'Splitter:Cut': 'keys stay',
            count: 3,
          },
        },
        downstream: ['TokenChunker:Cut'],
        upstream: ['begin'],
      },
      'TokenChunker:Cut': {
        obj: { component_name: 'TokenChunker', params: {} },
        downstream: ['TitleChunker:Cut'],
        upstream: ['DocGenerator:Report'],
        parent_id: 'TitleChunker:Cut',
      },
      'TitleChunker:Cut': { obj: { component_name: 'TitleChunker', params: {} }, downstream: [] },
    });
  });

  it('renames in path, conversation and layout, but keeps names people chose', () => {
    expect(migrated).toMatchObject({
      path: ['begin', 'TokenChunker:Cut'],
      history: [['assistant', 'from {TokenChunker:Cut@chunks}']],
      messages: [{ id: 'TokenChunker:Cut' }],
      globals: { 'sys.query': '{Splitter:Cut@chunks}' },
      graph: {
        nodes: [
          {
            id: 'TokenChunker:Cut',
            parentId: 'TitleChunker:Cut',
            type: 'chunkerNode',
            data: { label: 'TokenChunker', name: 'TokenChunker', form: { ref: '{TokenChunker:Cut@x}' } },
          },
          { id: 'DocGenerator:Report', data: { label: 'DocGenerator', name: 'My Splitter' } },
        ],
        edges: [
          {
            id: 'xy-edge__DocGenerator:Reportstart-TokenChunker:Cutend',
            source: 'DocGenerator:Report',
            target: 'TokenChunker:Cut',
          },
        ],
      },
    });
  });

  it('changes nothing twice, and nothing of its input', () => {
    const before = JSON.stringify(old);
    expect(migrateLegacy(migrated)).toEqual(migrated);
    expect(JSON.stringify(old)).toBe(before);
    expect(needsMigration(old)).toBe(true);
    expect(needsMigration(migrated)).toBe(false);
  });

  it.each([
    ['no components', { graph: { nodes: [{ type: 'splitterNode' }] } }],
    ['components that are a list', { components: [], path: ['Splitter:a'] }],
    ['parts of wrong types', { components: { 'X:a': 3 }, graph: { nodes: {}, edges: [null, 7] }, path: 'p' }],
  ])('gives %s back as it is', (_, value) => expect(migrateLegacy(value)).toEqual(value));

  it('keeps an old id whose new spelling is taken', () => {
    const entry = { obj: { component_name: 'Splitter' } };
    const { components } = migrateLegacy({ components: { 'Splitter:a': entry, 'TokenChunker:a': {} } });
    expect(components).toEqual({ 'Splitter:a': { obj: { component_name: 'TokenChunker' } }, 'TokenChunker:a': {} });
  });

  it('reads long runs of braces and blanks in one pass', () => {
    const text = `${'{'.repeat(200_000)}Splitter:a${' '.repeat(200_000)}`;
    const entry = { obj: { component_name: 'Splitter', params: { text } } };
    expect(migrateLegacy({ components: { 'Splitter:a': entry } })).toMatchObject({
      components: { 'TokenChunker:a': { obj: { params: { text } } } },
    });
  });

  it('is part of reading', () => {
    const document = parseDocument(old);
    expect(document.components['DocGenerator:Report']).toMatchObject({ type: 'DocGenerator', name: 'My Splitter' });
    expect(document.path).toEqual(['begin', 'TokenChunker:Cut']);
  });
});
