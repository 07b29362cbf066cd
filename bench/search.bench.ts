/**
 * Searching a dataset: the time to index passages, the time of a question, and what is kept.
 *
 * `RUNNEL_BENCH_PASSAGES` sets the number of passages (10,000 unless said otherwise), `RUNNEL_BENCH_STORAGE=memory` keeps them in memory; otherwise they
 * are in the embedded database, a process of its own. Times but those of writes are of the processor of this process, so that other work of the machine
 * hardly disturbs them. Passages are made of words whose frequencies fall as in natural texts, the most frequent ones being stop words, 400 tokens each.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { prepareDatabase } from '../scripts/prepare-database.js';
import { BODY_BYTES, TERM_BYTES } from '../src/knowledge/base/search-indexes.js';
import { createRowCache } from '../src/knowledge/search/index-view.js';
import { createMemoryIndexStorage } from '../src/knowledge/search/memory-index-storage.js';
import type { Passage } from '../src/knowledge/search/passage.js';
import { openSearchIndex, type SearchIndex } from '../src/knowledge/search/search-index.js';
import { STOP_WORDS } from '../src/knowledge/words/stop-words.js';
import type { IndexStorage } from '../src/records/index-storage.js';
import { createPostgresIndexStorage } from '../src/stores/postgres/search-index.js';
import { openPostgresStores } from '../src/stores/postgres/stores.js';
import { quantile, type Row } from './measure.js';

const QUESTIONS = 200;
/** Words of a passage; with punctuation and word parts about 400 tokens. */
const WORDS = 300;
const VOCABULARY = 60_000;
/** Share of the words that repeat one before: in abstracts of SciFact, of 300 words, 134 of 231 terms are different. */
const REPEATED = 0.35;
/** Passages that are added at once, as ingestion does. */
const PART = 200;
/** After which free pages are given back. */
const COLLECTED_MS = 1_000;
/** Between two statements of other work. */
const PAUSE_MS = 3;

/** Measures one dataset. */
export async function benchSearch(): Promise<readonly Row[]> {
  const count = Number(process.env.RUNNEL_BENCH_PASSAGES ?? 10_000);
  const opened = await openStorage();
  try {
    return await measure(opened, count);
  } finally {
    await opened.close();
  }
}

interface OpenStorage {
  readonly storage: IndexStorage;
  /** A statement of other work, such as that of a run's log. */
  readonly other: () => PromiseLike<unknown>;
  readonly close: () => Promise<void>;
}

async function openStorage(): Promise<OpenStorage> {
  if (process.env.RUNNEL_BENCH_STORAGE === 'memory') {
    return { storage: createMemoryIndexStorage(), other: async () => {}, close: async () => {} };
  }
  const dataDir = await mkdtemp(path.join(tmpdir(), 'runnel-bench-'));
  const quiet = () => {};
  const stores = await openPostgresStores({
    dataDir,
    image: await prepareDatabase(),
    log: { info: quiet, warn: quiet, error: quiet },
  });
  const close = async (): Promise<void> => {
    await stores.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  const { database } = stores;
  return { storage: createPostgresIndexStorage(database), other: () => database.sql`select 1`, close };
}

async function measure({ storage, other }: OpenStorage, count: number): Promise<readonly Row[]> {
  const sizes = new Map<string, number>();
  const watched: IndexStorage = {
    ...storage,
    async write(scope, segment, rows) {
      await storage.write(scope, segment, rows);
      const bytes = rows.filter(({ kind }) => kind === 'terms').reduce((sum, row) => sum + row.bytes.length, 0);
      sizes.set(segment, (sizes.get(segment) ?? 0) + bytes);
    },
  };
  const scope = { tenant: 'bench', dataset: 'passages' };
  await collectAll();
  const before = process.memoryUsage().rss;
  // As a server has them.
  const cache = createRowCache(TERM_BYTES, BODY_BYTES);
  const index = openSearchIndex({ storage: watched, ...scope, cache });
  const waits = watchWaits(other);
  const random = randomOf(1);
  let indexMs = 0;
  for (let from = 0; from < count; from += PART) {
    const part = await passagesOf(from, Math.min(PART, count - from), random);
    const startedAt = processorMs();
    await index.add(part);
    indexMs += processorMs() - startedAt;
  }
  const mergedFrom = processorMs();
  await index.settled();
  indexMs += processorMs() - mergedFrom;
  const waited = await waits.end();
  const times = await questionTimes(index, random);
  await collectAll();
  const memory = process.memoryUsage().rss - before;
  const { segments } = await storage.state(scope);
  const postings = segments.reduce((sum, { id }) => sum + (sizes.get(id) ?? 0), 0);
  const name = `${count.toLocaleString('en')} passages`;
  const isLarge = count > 10_000;
  return [
    { name: `${name}: text to searchable`, value: indexMs / 1_000, unit: 's', ...(!isLarge && { bar: 60 }) },
    { name: `${name}: question, p50`, value: quantile(times, 0.5), unit: 'ms', bar: isLarge ? 40 : 15 },
    { name: `${name}: question, p99`, value: quantile(times, 0.99), unit: 'ms', ...(!isLarge && { bar: 60 }) },
    { name: `${name}: postings`, value: postings / 1_048_576, unit: 'MiB', ...(isLarge && { bar: 20 }) },
    { name: `${name}: memory that stays`, value: memory / 1_048_576, unit: 'MiB', ...(!isLarge && { bar: 100 }) },
    { name: `${name}: another statement waits, p99`, value: quantile(waited, 0.99), unit: 'ms' },
    { name: `${name}: another statement waits, at most`, value: waited.at(-1) ?? 0, unit: 'ms', bar: 50 },
  ];
}

/** How long a statement takes that has nothing to do with the index, again and again until the end. */
function watchWaits(other: OpenStorage['other']): { readonly end: () => Promise<readonly number[]> } {
  const times: number[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      await other();
      times.push(performance.now() - startedAt);
      await delay(PAUSE_MS);
    }
  })();
  return {
    async end() {
      isOver = true;
      await watching;
      return times.sort((left, right) => left - right);
    },
  };
}

async function questionTimes(index: SearchIndex, random: () => number): Promise<number[]> {
  const times: number[] = [];
  for (let asked = 0; asked < QUESTIONS; asked += 1) {
    const question = Array.from({ length: 6 }, () => wordOf(FREQUENT.length + 1 + random() ** 3 * 5_000)).join(' ');
    const startedAt = processorMs();
    await index.search({ question });
    times.push(processorMs() - startedAt);
  }
  // The first fill the caches.
  return times.slice(QUESTIONS / 4);
}

/**
 * Collects garbage, so that what is measured is what stays; pages that are free are given back by a thread a moment later. With options such as `type` Node 20
 * collects young objects alone, whatever they say.
 */
async function collectAll(): Promise<void> {
  for (let times = 0; times < 2; times += 1) {
    globalThis.gc?.();
    await delay(COLLECTED_MS);
  }
}

/** Milliseconds of all threads of the process. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Makes passages, a few at a time, so that other statements have their turns. */
async function passagesOf(from: number, count: number, random: () => number): Promise<Passage[]> {
  const passages: Passage[] = [];
  while (passages.length < count) {
    passages.push(passageOf(from + passages.length, random));
    if (passages.length % 8 === 0) await delay(0);
  }
  return passages;
}

function passageOf(at: number, random: () => number): Passage {
  const words: string[] = [];
  while (words.length < WORDS) {
    const known = words[Math.floor((random() * words.length) / REPEATED)];
    // By rank, as Zipf's law has it.
    words.push(known ?? wordOf(VOCABULARY ** random()));
  }
  const document = Math.floor(at / 20);
  const own = randomOf(document + 2);
  const content = (): string => wordOf(FREQUENT.length + 1 + own() ** 3 * VOCABULARY);
  return {
    id: `passage-${at}`,
    documentId: `document-${document}`,
    title: `${content()} ${content()} ${content()}`,
    text: words.join(' '),
  };
}

const SYLLABLES = [
  'ka',
  'ro',
  'mi',
  'ten',
  'su',
  'lor',
  'ba',
  'den',
  'fi',
  'gra',
  'hel',
  'jo',
  'pra',
  'vin',
  'wes',
  'zo',
];

const FREQUENT = [...STOP_WORDS];

/** A word for each rank; frequent words are short, the most frequent ones are stop words. */
function wordOf(rank: number): string {
  const stop = FREQUENT[Math.floor(rank) - 1];
  if (stop !== undefined) return stop;
  let rest = Math.floor(rank) + 16;
  let word = '';
  while (rest > 0) {
    word += SYLLABLES[rest % SYLLABLES.length];
    rest = Math.floor(rest / SYLLABLES.length);
  }
  return word;
}

function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}
