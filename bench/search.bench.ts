/**
 * Searching a dataset: the time to index passages, the time of a question, and what is kept.
 *
 * `RUNNEL_BENCH_PASSAGES` sets the number of passages (10,000 unless said otherwise), `RUNNEL_BENCH_STORAGE=embedded` puts them into the embedded
 * database. Times but that of a write are of the processor, so that other work of the machine hardly disturbs them. Passages are made of words whose frequencies fall as in natural texts, 400 tokens each.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { prepareDatabase } from '../scripts/prepare-database.js';
import { createMemoryIndexStorage } from '../src/knowledge/search/memory-index-storage.js';
import type { Passage } from '../src/knowledge/search/passage.js';
import { openSearchIndex, type SearchIndex } from '../src/knowledge/search/search-index.js';
import type { IndexStorage } from '../src/records/index-storage.js';
import { createPostgresIndexStorage } from '../src/stores/postgres/search-index.js';
import { openPostgresStores } from '../src/stores/postgres/stores.js';
import { quantile, type Row } from './measure.js';

const QUESTIONS = 200;
/** Words of a passage; with punctuation and word parts about 400 tokens. */
const WORDS = 300;
const VOCABULARY = 60_000;
const PART = 2_048;

/** Measures one dataset. */
export async function benchSearch(): Promise<readonly Row[]> {
  const count = Number(process.env.RUNNEL_BENCH_PASSAGES ?? 10_000);
  const { storage, close } = await openStorage();
  try {
    return await measure(storage, count);
  } finally {
    await close();
  }
}

async function openStorage(): Promise<{ readonly storage: IndexStorage; readonly close: () => Promise<void> }> {
  if (process.env.RUNNEL_BENCH_STORAGE !== 'embedded') {
    return { storage: createMemoryIndexStorage(), close: async () => {} };
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
  return { storage: createPostgresIndexStorage(stores.database), close };
}

async function measure(storage: IndexStorage, count: number): Promise<readonly Row[]> {
  const writes: number[] = [];
  const sizes = new Map<string, number>();
  const watched: IndexStorage = {
    ...storage,
    async write(scope, segment, rows) {
      const startedAt = performance.now();
      await storage.write(scope, segment, rows);
      writes.push(performance.now() - startedAt);
      const bytes = rows.filter(({ kind }) => kind === 'terms').reduce((sum, row) => sum + row.bytes.length, 0);
      sizes.set(segment, (sizes.get(segment) ?? 0) + bytes);
    },
  };
  const scope = { tenant: 'bench', dataset: 'passages' };
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  const index = openSearchIndex({ storage: watched, ...scope });
  const random = randomOf(1);
  let indexMs = 0;
  for (let from = 0; from < count; from += PART) {
    const part = Array.from({ length: Math.min(PART, count - from) }, (_, at) => passageOf(from + at, random));
    const startedAt = processorMs();
    await index.add(part);
    indexMs += processorMs() - startedAt;
  }
  const mergedFrom = processorMs();
  await index.settled();
  indexMs += processorMs() - mergedFrom;
  const times = await questionTimes(index, random);
  globalThis.gc?.();
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
    { name: `${name}: memory of the process`, value: memory / 1_048_576, unit: 'MiB', ...(!isLarge && { bar: 100 }) },
    { name: `${name}: longest write`, value: Math.max(...writes), unit: 'ms', bar: 50 },
  ];
}

async function questionTimes(index: SearchIndex, random: () => number): Promise<number[]> {
  const times: number[] = [];
  for (let asked = 0; asked < QUESTIONS; asked += 1) {
    const question = Array.from({ length: 6 }, () => wordOf(20 + random() ** 3 * 5_000)).join(' ');
    const startedAt = processorMs();
    await index.search({ question });
    times.push(processorMs() - startedAt);
  }
  // The first fill the caches.
  return times.slice(QUESTIONS / 4);
}

/** Milliseconds of all threads of the process. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function passageOf(at: number, random: () => number): Passage {
  // By rank, as Zipf's law has it.
  const word = (): string => wordOf(VOCABULARY ** random());
  const text = Array.from({ length: WORDS }, word).join(' ');
  return {
    id: `passage-${at}`,
    documentId: `document-${Math.floor(at / 20)}`,
    title: `${word()} ${word()} ${word()}`,
    text,
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

/** A word for each rank; frequent words are short. */
function wordOf(rank: number): string {
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
