import { firstValueFrom, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createMemoryIndexStorage } from '../../../src/knowledge/search/memory-index-storage.js';
import type { Passage } from '../../../src/knowledge/search/passage.js';
import { openSearchIndex, type SearchIndex } from '../../../src/knowledge/search/search-index.js';
import { DEFAULT_SETTINGS, readSearchSettings } from '../../../src/knowledge/search/search-settings.js';
import { openWords } from '../../../src/knowledge/words/words.js';
import type { IndexStorage } from '../../../src/records/index-storage.js';

const words = openWords();
const VOCABULARY =
  'breaker circuit opens closes retry target timeout queue worker event stream token plan node edge frame round join 断路器 检查点 数据库 重试'.split(
    ' ',
  );

/** A generator of numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function passagesOf(count: number, random: () => number, prefix = 'p'): Passage[] {
  const some = (most: number): string =>
    Array.from(
      { length: 1 + Math.floor(random() * most) },
      () => VOCABULARY[Math.floor(random() * VOCABULARY.length)],
    ).join(' ');
  return Array.from({ length: count }, (_, at) => ({
    id: `${prefix}${at}`,
    documentId: `doc${at % 5}`,
    title: some(3),
    text: some(30),
    metadata: { year: 2_000 + (at % 10), tags: [at % 2 === 0 ? 'even' : 'odd'] },
  }));
}

const open = (): SearchIndex =>
  openSearchIndex({ storage: createMemoryIndexStorage(), tenant: 't', dataset: 'd', words, onError: fail });

function fail(error: unknown): never {
  throw error;
}

async function filled(passages: readonly Passage[]): Promise<SearchIndex> {
  const index = open();
  await index.add(passages);
  return index;
}

const QUESTIONS = [
  'circuit breaker opens',
  'retry the target after a timeout',
  '断路器 重试',
  'node',
  'no such words xyzzy',
];

async function answers(index: SearchIndex) {
  const all = [];
  for (const question of QUESTIONS) all.push(await index.search({ question, limit: 30 }));
  return all;
}

describe('a search index', () => {
  it('gives the scores of BM25 that its definition gives', async () => {
    const passages = passagesOf(60, randomOf(7));
    const index = await filled(passages);
    const texts = await words.analyse(passages.map(({ title, text }) => `${title}\n${text}`));
    const mean = texts.reduce((sum, { terms }) => sum + terms.length, 0) / texts.length;
    const [question] = await words.analyse(['circuit breaker 断路器']);
    const expected = texts.map(({ terms }, at) => {
      let score = 0;
      for (const term of question?.terms ?? []) {
        const held = texts.filter((one) => one.terms.includes(term)).length;
        const occurrences = terms.filter((one) => one === term).length;
        const rarity = Math.log(1 + (texts.length - held + 0.5) / (held + 0.5));
        score += (rarity * occurrences * 2.2) / (occurrences + 1.2 * (0.4 + (0.6 * terms.length) / mean));
      }
      return { id: passages[at]?.id as string, score };
    });
    const best = Math.max(...expected.map(({ score }) => score));
    const settings = { ...DEFAULT_SETTINGS, fusion: 'none' as const, expandTerms: false };
    const hits = await index.search({ question: 'circuit breaker 断路器', limit: 60, settings });
    expect(hits).toHaveLength(expected.filter(({ score }) => score > 0).length);
    const scores = new Map(expected.map(({ id, score }) => [id, score / best]));
    for (const { id, similarity } of hits) expect(similarity).toBeCloseTo(scores.get(id) as number, 10);
  });

  it.each([1, 2, 3, 4])(
    'is, after passages were taken out, as if they never had been there (seed %i)',
    async (seed) => {
      const random = randomOf(seed);
      const kept = passagesOf(50, random);
      const others = passagesOf(70, random, 'x');
      const index = open();
      for (let at = 0; at < others.length; at += 7) await index.add(others.slice(at, at + 7));
      await index.add(kept.slice(0, 20).map((passage) => ({ ...passage, text: 'replaced later' })));
      await index.add(kept);
      await index.remove(others.map(({ id }) => id));
      const expected = await answers(await filled(kept));
      expect(await answers(index)).toEqual(expected);
      await index.settled();
      expect(await answers(index)).toEqual(expected);
      expect(await index.size()).toMatchObject({ passages: 50, available: 50 });
    },
  );

  it('gives the same hits for the same passages, in whatever order and portions they came', async () => {
    const passages = passagesOf(90, randomOf(11));
    const index = open();
    for (const passage of [...passages].reverse()) await index.add([passage]);
    const expected = await answers(await filled(passages));
    expect(await answers(index)).toEqual(expected);
    await index.settled();
    expect((await index.size()).segments).toBeLessThan(10);
    expect(await answers(index)).toEqual(expected);
  });

  it('counts hidden passages in no statistics, and finds them again once they are shown', async () => {
    const passages = passagesOf(40, randomOf(3));
    const ids = passages.slice(0, 15).map(({ id }) => id);
    const index = await filled(passages);
    const before = await answers(index);
    await index.setAvailable(ids, false);
    expect(await answers(index)).toEqual(await answers(await filled(passages.slice(15))));
    expect(await index.size()).toMatchObject({ passages: 40, available: 25 });
    await index.setAvailable(ids, true);
    expect(await answers(index)).toEqual(before);
  });

  it('keeps nothing in its storage once everything was taken out', async () => {
    const storage = createMemoryIndexStorage();
    const scope = { tenant: 't', dataset: 'd' };
    const index = openSearchIndex({ storage, ...scope, words });
    const passages = passagesOf(30, randomOf(5));
    await index.add(passages);
    await index.remove(passages.map(({ id }) => id));
    await index.settled();
    expect((await storage.state(scope)).segments).toEqual([]);
    expect(await index.search({ question: 'circuit' })).toEqual([]);
  });

  it('gives similarities of 0 to 1 that never rise, and parts of 0 to 1', async () => {
    const index = await filled(passagesOf(80, randomOf(13)));
    for (const hits of await answers(index)) {
      let last = 1;
      for (const { similarity, parts } of hits) {
        expect(similarity).toBeGreaterThanOrEqual(0);
        expect(similarity).toBeLessThanOrEqual(last);
        last = similarity;
        for (const part of Object.values(parts)) {
          expect(part).toBeGreaterThanOrEqual(0);
          expect(part).toBeLessThanOrEqual(1);
        }
      }
    }
  });

  it('applies filters before candidates are cut', async () => {
    const passages = passagesOf(300, randomOf(17)).map((passage) => ({ ...passage, text: `circuit ${passage.text}` }));
    const rare = {
      id: 'rare',
      documentId: 'other',
      title: '',
      text: `circuit ${'filler '.repeat(60)}`,
      metadata: { year: 1_990 },
    };
    const index = await filled([...passages, rare]);
    const settings = readSearchSettings({ candidates: 5 });
    const find = async (query: object) =>
      (await index.search({ question: 'circuit', limit: 5, settings, ...query })).map(({ id }) => id);
    expect(await find({})).not.toContain('rare');
    expect(await find({ documents: ['other'] })).toEqual(['rare']);
    expect(await find({ filter: { conditions: [{ name: 'year', operator: '<', value: 2_000 }] } })).toEqual(['rare']);
    expect(await find({ accepts: ({ id }: { id: string }) => id === 'rare' })).toEqual(['rare']);
    expect(await find({ documents: [] })).toEqual([]);
  });

  it('finds passages by their keywords and questions', async () => {
    const base = { documentId: 'd', title: '', text: '' };
    const index = await filled([
      { ...base, id: 'a', keywords: ['zeppelin'] },
      { ...base, id: 'b', questions: ['How tall is the tower?'] },
    ]);
    expect((await index.search({ question: 'zeppelins' })).map(({ id }) => id)).toEqual(['a']);
    expect((await index.search({ question: 'tower' })).map(({ id }) => id)).toEqual(['b']);
  });

  it.each(['', ' \n', 'the of and', '😀😀', "'; drop table x; --", '[1]', '\0', 'a'.repeat(100_000), '\ud800'])(
    'answers the odd question %# without an error',
    async (question) => {
      const index = await filled(passagesOf(10, randomOf(1)));
      expect(await index.search({ question })).toEqual([]);
    },
  );

  it('answers an English question from Chinese passages and the other way round by its table of terms', async () => {
    const index = await filled([
      { id: 'zh', documentId: 'd', title: '', text: '断路器在失败后打开' },
      { id: 'en', documentId: 'd', title: '', text: 'Every snapshot is kept for a week' },
    ]);
    expect((await index.search({ question: 'circuit breaker' })).map(({ id }) => id)).toEqual(['zh']);
    expect((await index.search({ question: '快照' })).map(({ id }) => id)).toEqual(['en']);
  });

  it('lowers a passage that has the words of the question in an example alone', async () => {
    const text = 'This page is about prompts.\n\nExamples:\ncircuit breaker opens';
    const real = {
      id: 'real',
      documentId: 'd',
      title: '',
      text: 'The circuit breaker opens after many failures, as every other guide about it says',
    };
    const index = await filled([{ id: 'prompts', documentId: 'd', title: '', text }, real]);
    const find = async (examplePenalty: boolean) =>
      index.search({ question: 'circuit breaker opens', settings: readSearchSettings({ examplePenalty }) });
    const [penalised, plain] = [await find(true), await find(false)];
    const scoreOf = (hits: typeof plain) => hits.find(({ id }) => id === 'prompts')?.similarity as number;
    expect(plain[0]?.id).toBe('prompts');
    expect(scoreOf(penalised)).toBeLessThan(scoreOf(plain));
  });

  it('puts a passage that the best one mentions by its title behind the first two', async () => {
    const filler = Array.from({ length: 30 }, (_, at) => ({
      id: `f${at}`,
      documentId: 'd',
      title: `Film ${at}`,
      text: `A film of the year ${1_900 + at} that was shown for ${at} weeks; its birth of sound was early.`,
    }));
    const index = await filled([
      ...filler,
      {
        id: 'film',
        documentId: 'd',
        title: 'Silver Harbour',
        text: 'Silver Harbour is a film made by Mara Lindqvist.',
      },
      { id: 'maker', documentId: 'd', title: 'Mara Lindqvist (artist)', text: 'Mara Lindqvist grew up on an island.' },
    ]);
    const find = async (linkGraph: boolean) =>
      (
        await index.search({
          question: 'Birth of the one who made the film Silver Harbour',
          limit: 5,
          settings: readSearchSettings({ linkGraph }),
        })
      ).map(({ id }) => id);
    expect(await find(true)).toContain('maker');
    expect(await find(false)).not.toContain('maker');
    expect((await find(true)).slice(0, 2)).toEqual((await find(false)).slice(0, 2));
  });

  it('keeps all passages of writers that write at the same time', async () => {
    const storage = createMemoryIndexStorage();
    const passages = passagesOf(60, randomOf(23));
    const writers = [0, 1, 2].map(() => openSearchIndex({ storage, tenant: 't', dataset: 'd', words }));
    await Promise.all(
      writers.flatMap((index, part) => [
        index.add(passages.filter((_, at) => at % 6 === 2 * part)),
        index.add(passages.filter((_, at) => at % 6 === 2 * part + 1)),
      ]),
    );
    await Promise.all(writers.map((index) => index.settled()));
    for (const index of writers) expect(await answers(index)).toEqual(await answers(await filled(passages)));
  });

  describe('that another one changes while it is searched', () => {
    const texts = ['a circuit opens', 'a circuit closes', 'a circuit breaks', 'a circuit is new'];
    const passages = texts.map((text, at): Passage => ({ id: `p${at}`, documentId: 'd', title: '', text }));

    /** A writer with three segments, and a reader whose storage calls `during` once, before or behind a read of its own. */
    async function opened(during: (storage: IndexStorage, writer: SearchIndex) => Partial<IndexStorage>) {
      const storage = createMemoryIndexStorage();
      const [scope, onError] = [{ tenant: 't', dataset: 'd', words }, fail];
      const writer = openSearchIndex({ ...scope, storage, onError });
      for (const passage of passages.slice(0, 3)) await writer.add([passage]);
      const reader = openSearchIndex({ ...scope, storage: { ...storage, ...during(storage, writer) }, onError });
      const idsOf = async () => (await reader.search({ question: 'circuit' })).map(({ id }) => id).toSorted();
      return { writer, idsOf };
    }

    /** Adds the passage that has all segments merged, and their rows deleted. */
    function merging(writer: SearchIndex): () => Promise<void> {
      let isDone = false;
      return async () => {
        if (isDone) return;
        isDone = true;
        await writer.add(passages.slice(3));
        await writer.settled();
        expect(await writer.size()).toMatchObject({ passages: 4, segments: 1 });
      };
    }

    it.each(['terms', 'bodies'])('searches anew where %s were deleted before they were read', async (read) => {
      const { idsOf } = await opened((storage, writer) => {
        const merge = merging(writer);
        return {
          async read(scope, segment, kind, keys) {
            if (kind === read) await merge();
            return storage.read(scope, segment, kind, keys);
          },
        };
      });
      expect(await idsOf()).toEqual(['p0', 'p1', 'p2', 'p3']);
    });

    it('reads its segments anew where they were deleted before their heads were read', async () => {
      const { idsOf } = await opened((storage, writer) => {
        const merge = merging(writer);
        return {
          async list(scope, segment, kind, page) {
            if (kind === 'heads') await merge();
            return storage.list(scope, segment, kind, page);
          },
        };
      });
      expect(await idsOf()).toEqual(['p0', 'p1', 'p2', 'p3']);
    });

    it('does not read anew what it has merged itself', async () => {
      const storage = createMemoryIndexStorage();
      const read: string[] = [];
      const list: IndexStorage['list'] = (scope, segment, kind, page) => {
        read.push(segment);
        return storage.list(scope, segment, kind, page);
      };
      const index = openSearchIndex({
        ...{ tenant: 't', dataset: 'd', words, onError: fail },
        storage: { ...storage, list },
      });
      for (const passage of passages) await index.add([passage]);
      await index.settled();
      expect((await index.search({ question: 'circuit' })).map(({ id }) => id).toSorted()).toEqual([
        'p0',
        'p1',
        'p2',
        'p3',
      ]);
      const [merged] = (await storage.state({ tenant: 't', dataset: 'd' })).segments;
      expect(read.length).toBeGreaterThan(0);
      expect(read).not.toContain(merged?.id);
    });

    it('does not take the state that a search before has begun to read', async () => {
      const [begun, go] = [new Subject<void>(), new Subject<void>()];
      let reads = 0;
      const { writer, idsOf } = await opened((storage) => ({
        async state(scope) {
          const state = await storage.state(scope);
          reads += 1;
          if (reads === 1) {
            const released = firstValueFrom(go);
            begun.next();
            await released;
          }
          return state;
        },
      }));
      const isBegun = firstValueFrom(begun);
      const first = idsOf();
      await isBegun;
      await writer.add(passages.slice(3));
      const second = idsOf();
      // The second has looked by then.
      for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
      go.next();
      expect(await second).toEqual(['p0', 'p1', 'p2', 'p3']);
      expect(await first).toContain('p0');
      await writer.settled();
    });
  });

  it('names passages whose terms another version made', async () => {
    const storage = createMemoryIndexStorage();
    const old = { ...words, version: 0 };
    await openSearchIndex({ storage, tenant: 't', dataset: 'd', words: old }).add(passagesOf(3, randomOf(1)));
    const index = openSearchIndex({ storage, tenant: 't', dataset: 'd', words });
    expect(await index.outdated(2)).toEqual(['p0', 'p1']);
    await index.add(passagesOf(3, randomOf(1)));
    expect(await index.outdated(2)).toEqual([]);
  });

  it.each([
    ['an unknown setting', { wieghts: {} }],
    ['a weight that is no number', { weights: { bm25: 'much' } }],
    ['a share above 1', { bm25: { b: 2 } }],
    ['an unknown fusion', { fusion: 'best' }],
    ['half a candidate', { candidates: 0.5 }],
  ])('refuses %s', (_, settings) => {
    expect(() => readSearchSettings(settings as never)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });

  it('refuses ids, limits and scopes that are not allowed', async () => {
    const index = open();
    const passage = { id: '', documentId: 'd', title: '', text: 'x' };
    await expect(index.add([passage])).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    await expect(index.search({ question: 'x', limit: 0 })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    expect(() => openSearchIndex({ storage: createMemoryIndexStorage(), tenant: '', dataset: 'd' })).toThrow('tenant');
  });

  it('prefers what holds the names of neighbouring terms in the other language beside each other', async () => {
    const text = (first: string, second: string) =>
      `The ${first} is large. Much later, behind all of these words, a ${second}.`;
    const passages = [
      { id: 'apart', documentId: 'a', title: '', text: text('rerank', 'model') },
      { id: 'near', documentId: 'b', title: '', text: text('rerank model', 'thing') },
      { id: 'other', documentId: 'c', title: '', text: text('pump', 'valve') },
    ];
    const [best, next] = await (await filled(passages)).search({ question: '重排模型' });
    expect([best?.id, next?.id]).toEqual(['near', 'apart']);
    expect(best?.parts.proximity).toBe(1);
    expect(next?.parts.proximity).toBeLessThan(0.5);
  });

  it('gives words of the question no less when their names in another language are nowhere', async () => {
    const index = await filled(passagesOf(60, randomOf(9)));
    const question = 'stream of a model';
    const plain = { ...DEFAULT_SETTINGS, expandTerms: false };
    const [expanded, alone] = [await index.search({ question }), await index.search({ question, settings: plain })];
    expect(expanded.map(({ id, parts }) => [id, parts])).toEqual(alone.map(({ id, parts }) => [id, parts]));
  });
});
