import { throwError } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EngineError } from '../../../src/errors.js';
import { createSearchIndexes } from '../../../src/knowledge/base/search-indexes.js';
import { createMemoryIndexStorage } from '../../../src/knowledge/search/memory-index-storage.js';
import type { Passage } from '../../../src/knowledge/search/passage.js';
import type { IndexRow, IndexStorage } from '../../../src/records/index-storage.js';
import { createThreadPool } from '../../../src/threads/thread-pool.js';
import type { Threads } from '../../../src/threads/threads.js';

const NEVER = new AbortController().signal;
/** Together more than is taken apart in place, in both languages. */
const PASSAGES: readonly Passage[] = Array.from({ length: 60 }, (_, at) => ({
  id: `p${at}`,
  documentId: `d${at % 3}`,
  title: `Pump ${at}`,
  text: `Pump ${at} moves water uphill. 第${at}号泵把水抽到高处。Example: it runs ${'at night and by day '.repeat(14)}`,
  available: at % 7 !== 0,
}));

/** A storage that keeps the rows which are written to it. */
function recorded() {
  const rows: IndexRow[] = [];
  const storage: IndexStorage = createMemoryIndexStorage();
  const write: IndexStorage['write'] = async (scope, segment, some) => {
    rows.push(...some);
    await storage.write(scope, segment, some);
  };
  return { rows, storage: { ...storage, write } };
}

async function added(threads: Threads | undefined, passages = PASSAGES) {
  const { rows, storage } = recorded();
  const errors: unknown[] = [];
  const indexes = createSearchIndexes({ storage, threads, onError: (error) => errors.push(error) });
  const index = indexes.open('t', 'd');
  await index.add(passages);
  await indexes.settled();
  const hits = await index.search({ question: '泵 pump 5', limit: 5 }, NEVER);
  const told = rows.map(({ kind, key, bytes }) => [kind, key, Buffer.from(bytes).toString('base64')]);
  return { rows: told, hits, errors };
}

/** Threads that count the jobs which they are given. */
function counted(): { readonly threads: Threads; readonly jobs: { count: number } } {
  const pool = createThreadPool();
  onTestFinished(() => pool.close());
  const jobs = { count: 0 };
  const run: Threads['run'] = (job) => {
    jobs.count += 1;
    return pool.run(job);
  };
  return { threads: { run }, jobs };
}

describe('passages that are added', { timeout: 60_000 }, () => {
  it('are taken apart in a thread when they are many, to the same rows', async () => {
    const { threads, jobs } = counted();
    const [inThread, inPlace] = [await added(threads), await added(undefined)];
    expect(jobs.count).toBe(1);
    expect(inThread).toEqual(inPlace);
    expect(inThread.hits[0]).toMatchObject({ id: 'p5' });
  });

  it('are taken apart in place when they are few', async () => {
    const { threads, jobs } = counted();
    const few = PASSAGES.slice(0, 6);
    expect((await added(threads, few)).rows).toEqual((await added(undefined, few)).rows);
    expect(jobs.count).toBe(0);
  });

  it('are taken apart in place where no thread can be had, which is told', async () => {
    const busy = new EngineError('LIMIT_REACHED', 'too many wait', { retryable: true });
    const { errors, ...made } = await added({ run: () => throwError(() => busy) });
    expect(errors).toEqual([busy]);
    expect({ ...made, errors: [] }).toEqual(await added(undefined));
  });

  it('are merged in a thread as well, and in place where none can be had, which is told', async () => {
    const merged = async (threads: Threads | undefined) => {
      const { storage } = recorded();
      const errors: unknown[] = [];
      const indexes = createSearchIndexes({ storage, threads, onError: (error) => errors.push(error) });
      const index = indexes.open('t', 'd');
      for (let part = 0; part < 4; part += 1) {
        await index.add(
          PASSAGES.map(({ text, ...passage }, at) => ({
            ...{ ...passage, id: `${part}-${passage.id}` },
            text: `${text} ${Array.from({ length: 60 }, (_, word) => `w${part}x${at}x${word}`).join(' ')}`,
          })),
        );
      }
      await indexes.settled();
      const { segments } = await storage.state({ tenant: 't', dataset: 'd' });
      const hits = await index.search({ question: 'pump w2x30x7', limit: 5 }, NEVER);
      return { errors, segments: segments.length, hits };
    };
    const { threads, jobs } = counted();
    const inThread = await merged(threads);
    expect(inThread).toMatchObject({ errors: [], segments: 1 });
    expect(inThread.hits[0]?.id).toBe('2-p30');
    // Four times passages are taken apart; the rest are portions of what is merged.
    expect(jobs.count).toBeGreaterThan(4);
    const busy = new EngineError('LIMIT_REACHED', 'too many wait', { retryable: true });
    const { errors, ...inPlace } = await merged({ run: () => throwError(() => busy) });
    expect(errors.length).toBe(jobs.count);
    expect({ ...inPlace, errors: [] }).toEqual(inThread);
  });

  it('are not added when that is not wanted any more', async () => {
    const { threads } = counted();
    const { rows, storage } = recorded();
    const index = createSearchIndexes({ storage, threads }).open('t', 'd');
    const left = new AbortController();
    const adding = index.add(PASSAGES, left.signal);
    left.abort(new Error('left'));
    await expect(adding).rejects.toThrow('left');
    expect(rows).toEqual([]);
  });
});
