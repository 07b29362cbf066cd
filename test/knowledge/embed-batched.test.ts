import { describe, expect, it } from 'vitest';
import { embedBatched } from '../../src/knowledge/embed-batched.js';
import type { Embedder } from '../../src/models/single-answer.js';

/** A vector per text that tells its length, and the calls that were made. */
function lengths(): Embedder & { readonly calls: (readonly string[])[] } {
  const calls: (readonly string[])[] = [];
  return {
    calls,
    async embed(texts) {
      calls.push(texts);
      return texts.map((text) => [text.length, 1]);
    },
  };
}

const giving = (vectors: unknown): Embedder => ({ embed: async () => vectors as number[][] });

describe('embedding in batches', () => {
  it('gives one vector per text in order, however the texts were sent', async () => {
    const embedder = lengths();
    const embed = embedBatched(embedder, { batchSize: 2, concurrency: 3 });
    const vectors = await embed(['a', 'bb', 'ccc', 'bb', 'dddd', 'a']);
    expect(vectors.map(([length]) => length)).toEqual([1, 2, 3, 2, 4, 1]);
    expect(embedder.calls).toEqual([
      ['a', 'bb'],
      ['ccc', 'dddd'],
    ]);
  });

  it('makes no call for no texts', async () => {
    const embedder = lengths();
    expect(await embedBatched(embedder)([])).toEqual([]);
    expect(embedder.calls).toEqual([]);
  });

  it('has name and kind, and is an embedder itself', async () => {
    const embed = embedBatched(lengths(), { name: 'words' });
    expect([embed.stepName, embed.stepKind]).toEqual(['words', 'embedder']);
    expect(await embed.embed(['abc'])).toEqual([[3, 1]]);
  });

  it('makes no more calls at once than it may', async () => {
    let running = 0;
    let most = 0;
    const embedder: Embedder = {
      async embed(texts) {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return texts.map(() => [1]);
      },
    };
    await embedBatched(embedder, { batchSize: 1, concurrency: 2 })(['a', 'b', 'c', 'd', 'e']);
    expect(most).toBe(2);
  });

  it.each([
    ['too few vectors', [[1]]],
    ['too many vectors', [[1], [2], [3]]],
    ['an empty vector', [[], [1]]],
    ['vectors of different lengths', [[1], [1, 2]]],
    ['what is no number', [[1], [Number.NaN]]],
  ])('refuses %s', async (_what, vectors) => {
    await expect(embedBatched(giving(vectors))(['a', 'b'])).rejects.toMatchObject({ code: 'EMBEDDING_MISMATCH' });
  });

  it('ends the other calls when one fails, and when it is stopped', async () => {
    const ended: string[] = [];
    const embedder: Embedder = {
      embed: ([text = ''], { signal } = {}) =>
        new Promise((_, reject) => {
          signal?.addEventListener('abort', () => ended.push(text));
          if (text === 'bad') setImmediate(() => reject(new Error('down')));
        }),
    };
    await expect(embedBatched(embedder, { batchSize: 1, concurrency: 2 })(['slow', 'bad'])).rejects.toThrow('down');
    expect(ended).toEqual(['slow']);

    const controller = new AbortController();
    const stopped = embedBatched(embedder, { batchSize: 1, concurrency: 2 })(['one', 'two'], {
      signal: controller.signal,
    });
    controller.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
    expect(ended.slice(1).sort()).toEqual(['one', 'two']);
  });

  it.each([{ batchSize: 0 }, { concurrency: 1.5 }])('refuses %o', (options) => {
    expect(() => embedBatched(lengths(), options)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});
