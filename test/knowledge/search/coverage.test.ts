import { describe, expect, it } from 'vitest';
import { createMemoryIndexStorage } from '../../../src/knowledge/search/memory-index-storage.js';
import { openSearchIndex } from '../../../src/knowledge/search/search-index.js';
import { openWords } from '../../../src/knowledge/words/words.js';

/** The similarity of the best passage. */
async function similarity(question: string, texts: readonly string[], hasDictionary = true): Promise<number> {
  const segmenter = () => Promise.reject(new Error('not here'));
  const words = hasDictionary ? openWords() : openWords({ segmenter });
  const index = openSearchIndex({ storage: createMemoryIndexStorage(), tenant: 't', dataset: 'd', words });
  const passages = texts.map((text, at) => ({ id: `${at}`, documentId: `${at}`, title: '', text, available: true }));
  await index.add(passages as never);
  const [best] = await index.search({ question, limit: 1 });
  return best?.similarity ?? 0;
}

const TEXTS = ['断路器在五次失败后打开。', 'A circuit breaker opens after five failures.', '阀门切断水流。'];

describe('how much of a question the best passage holds', () => {
  it('does not change with words that only ask', async () => {
    const plain = await similarity('断路器 打开', TEXTS);
    expect(plain).toBeGreaterThan(0.5);
    expect(await similarity('请问断路器什么时候会打开呢？', TEXTS)).toBeCloseTo(plain, 1);
  });

  it('is as large without a dictionary, when the words ask for nothing else', async () => {
    expect(await similarity('断路器打开', TEXTS, false)).toBeGreaterThan(0.5);
    expect(await similarity('Kubernetes 断路器打开', TEXTS, false)).toBeLessThan(
      await similarity('断路器打开', TEXTS, false),
    );
  });

  it('counts what a passage in the other language holds as at most 0.6', async () => {
    const [english] = [await similarity('断路器', [TEXTS[1] as string])];
    expect(english).toBeGreaterThan(0.3);
    expect(english).toBeLessThanOrEqual(0.6);
  });

  it('falls with each word that nothing holds', async () => {
    const all = await similarity('circuit breaker opens', TEXTS);
    const most = await similarity('circuit breaker opens quixotically', TEXTS);
    const few = await similarity('quixotic zebras in circuit tournaments', TEXTS);
    expect(all).toBeGreaterThan(most);
    expect(most).toBeGreaterThan(few);
    expect(few).toBeLessThan(0.25);
  });

  it('is that of all words where all of them only ask', async () => {
    expect(await similarity('是什么', ['什么是什么'])).toBeGreaterThan(0.2);
  });
});
