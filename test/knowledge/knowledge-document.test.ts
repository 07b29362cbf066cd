import { describe, expect, it } from 'vitest';
import {
  knowledgeDocument,
  withMetadata,
  withScore,
  withSubIndexes,
  withVectors,
} from '../../src/knowledge/knowledge-document.js';

/** Fails on any write. */
const frozen = () =>
  Object.freeze({ ...knowledgeDocument({ id: 'a', text: 'A', subIndexes: ['x'] }), metadata: Object.freeze({ n: 1 }) });

describe('a document', () => {
  it('has an id made of source and text when it is given none', () => {
    const one = knowledgeDocument({ text: 'same', metadata: { source: 'a.md' } });
    expect(one.id).toMatch(/^[0-9a-f]{32}$/);
    expect(knowledgeDocument({ text: 'same', metadata: { source: 'a.md', more: 1 } }).id).toBe(one.id);
    expect(knowledgeDocument({ text: 'same', metadata: { source: 'b.md' } }).id).not.toBe(one.id);
    expect(knowledgeDocument({ text: 'other', metadata: { source: 'a.md' } }).id).not.toBe(one.id);
  });

  it('has only the fields that it was given', () => {
    expect(knowledgeDocument({ id: 'a', text: 'A', score: undefined })).toEqual({ id: 'a', text: 'A', metadata: {} });
  });

  it.each([
    ['an empty id', { id: '', text: 'A' }],
    ['a text that is none', { text: 7 as never }],
    ['a score that is no number', { text: 'A', score: Number.NaN }],
    ['a vector with infinity', { text: 'A', denseVector: [1, Number.POSITIVE_INFINITY] }],
    ['a sparse vector with a text', { text: 'A', sparseVector: { word: 'x' as never } }],
  ])('refuses %s', (_what, fields) => {
    expect(() => knowledgeDocument(fields)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});

describe('the helpers of documents', () => {
  it('give copies and leave the document as it is', () => {
    const document = frozen();
    expect(withMetadata(document, { n: 2, m: 3 }).metadata).toEqual({ n: 2, m: 3 });
    expect(withScore(document, 0.5).score).toBe(0.5);
    expect(withSubIndexes(document, ['y', 'x']).subIndexes).toEqual(['x', 'y']);
    expect(withVectors(document, { denseVector: [1] })).toMatchObject({ id: 'a', denseVector: [1], subIndexes: ['x'] });
    expect(document).toEqual({ id: 'a', text: 'A', metadata: { n: 1 }, subIndexes: ['x'] });
  });

  it('take a score away and keep the vector that is not named', () => {
    const document = { ...frozen(), score: 1, sparseVector: { word: 2 } };
    expect(withScore(document, undefined)).not.toHaveProperty('score');
    expect(withVectors(document, { denseVector: [3] })).toMatchObject({ sparseVector: { word: 2 }, denseVector: [3] });
  });
});
