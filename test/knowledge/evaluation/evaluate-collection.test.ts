import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type CollectionResult,
  compareResults,
  evaluateCollection,
  type IndexedCollection,
  indexCollection,
  trecLines,
} from '../../../src/knowledge/evaluation/evaluate-collection.js';
import { readCollection } from '../../../src/knowledge/evaluation/read-collection.js';
import { DEFAULT_SETTINGS, readSearchSettings } from '../../../src/knowledge/search/search-settings.js';

const FOLDER = path.join(import.meta.dirname, 'collection');

describe('the collection that ships', () => {
  let indexed: IndexedCollection;
  let usual: CollectionResult;
  let words: CollectionResult;
  beforeAll(async () => {
    indexed = await indexCollection(await readCollection(FOLDER));
    usual = await evaluateCollection(indexed, DEFAULT_SETTINGS);
    words = await evaluateCollection(indexed, readSearchSettings({ fusion: 'none' }));
  });

  it('is answered by default no worse than by BM25 alone', () => {
    for (const measure of ['ndcg@10', 'map', 'recall@10'] as const) {
      expect(usual.means[measure]).toBeGreaterThanOrEqual(words.means[measure] - 0.005);
    }
    expect(usual.means['ndcg@10']).toBeGreaterThan(0.85);
  });

  it('has what one mention leads to among the first eight more often with the link graph', async () => {
    const without = await evaluateCollection(indexed, readSearchSettings({ linkGraph: false }));
    expect(usual.means['perfect@8']).toBeGreaterThanOrEqual(without.means['perfect@8']);
    const chained = usual.questions.filter(({ id }) => id === 'q17' || id === 'q18');
    expect(chained.map(({ measures }) => measures['perfect@8'])).toEqual([1, 1]);
  });

  it('gives the same result each time', async () => {
    const again = await evaluateCollection(indexed, DEFAULT_SETTINGS);
    expect(again.questions.map(({ found }) => found)).toEqual(usual.questions.map(({ found }) => found));
  });

  it('names the questions that changed, the greatest loss first, and no regression against itself', () => {
    const same = compareResults(usual, usual);
    expect(same.changed).toEqual([]);
    expect(same.regressions).toEqual([]);
    const { changed, differences } = compareResults(usual, words);
    const losses = changed.map(({ ours, theirs }) => ours - theirs);
    expect(losses).toEqual([...losses].sort((left, right) => left - right));
    expect(differences['ndcg@10'].low).toBeLessThanOrEqual(differences['ndcg@10'].mean);
    expect(differences['ndcg@10'].high).toBeGreaterThanOrEqual(differences['ndcg@10'].mean);
  });

  it('is a regression when a configuration is worse for certain', async () => {
    const broken = {
      ...usual,
      questions: usual.questions.map((question) => ({ ...question, measures: { ...question.measures, map: 0 } })),
    };
    expect(compareResults(broken, usual).regressions).toEqual(['map']);
  });

  it('is written as lines of TREC whose scores fall strictly', () => {
    const lines = [...trecLines(usual, 'tag')].map((line) => line.trim().split(' '));
    expect(lines[0]).toEqual(['q1', 'Q0', expect.any(String), '1', expect.any(String), 'tag']);
    for (const [at, [question, , , rank, score]] of lines.entries()) {
      const before = lines[at - 1];
      if (before?.[0] !== question) expect(rank).toBe('1');
      else expect(Number(score)).toBeLessThan(Number(before?.[4]));
    }
  });
});
