import { describe, expect, it } from 'vitest';
import { entriesOf, firstBegin, ingestionComponents, mode, prologue } from '../../src/dsl/introspect.js';
import { parseDocument, readDocument } from '../../src/dsl/read.js';
import { documentText } from './load-document.js';

const document = parseDocument(documentText('parcel-desk.json'));

/** Reads components that may lack an entry. */
function draft(components: object) {
  const read = readDocument({ components }).document;
  if (read === undefined) throw new Error('no document');
  return read;
}

describe('looking into a document', () => {
  it('finds prologue and mode', () => {
    expect([firstBegin(document), prologue(document), mode(document)]).toEqual([
      'begin',
      'Parcel desk. Which parcel?',
      'conversational',
    ]);
  });

  it('prefers the id "begin" among several entries, and knows a Begin that is no entry', () => {
    const named = (name: string, params = {}) => ({ obj: { component_name: name, params } });
    const several = draft({ 'Begin:b': named('Begin'), begin: named('begin', { mode: 'task' }) });
    expect(entriesOf(several)).toEqual(['begin', 'Begin:b']);
    expect([mode(several), prologue(several)]).toEqual(['task', '']);
    const elsewhere = draft({ start: named('Begin', { prologue: 'hello' }) });
    expect([entriesOf(elsewhere), firstBegin(elsewhere), prologue(elsewhere)]).toEqual([[], 'start', 'hello']);
    const none = draft({ a: named('LLM') });
    expect([firstBegin(none), prologue(none), mode(none)]).toEqual([undefined, '', 'conversational']);
  });

  it('knows an ingestion pipeline by its components, and by that it has no entry', () => {
    const file = { obj: { component_name: 'File', params: {} }, downstream: ['Tokenizer:A'] };
    const tokenizer = { obj: { component_name: ' tokenizer', params: {} }, downstream: [] };
    const begin = { obj: { component_name: 'Begin', params: {} }, downstream: [] };
    const idsOf = (components: object) => ingestionComponents(draft(components)).map(({ id }) => id);
    expect(idsOf({ File: file, 'Tokenizer:A': tokenizer })).toEqual(['File', 'Tokenizer:A']);
    expect(idsOf({ begin, 'Tokenizer:A': tokenizer })).toEqual([]);
    expect(ingestionComponents(document)).toEqual([]);
  });
});
