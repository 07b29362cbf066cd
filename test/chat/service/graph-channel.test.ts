import { lastValueFrom, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../../src/chat/pipeline/chat-events.js';
import type { ChatSettings } from '../../../src/chat/service/chat-settings.js';
import { findEvidence } from '../../../src/chat/service/find-evidence.js';
import { graphBehindSecond } from '../../../src/chat/service/graph-channel.js';
import { EngineError } from '../../../src/errors.js';
import { createKnowledgeSearch } from '../../../src/knowledge/base/search-datasets.js';
import { createSearchIndexes } from '../../../src/knowledge/base/search-indexes.js';
import type { GraphsQuery, KnowledgeSearch } from '../../../src/knowledge/knowledge-search.js';
import { createMemoryIndexStorage } from '../../../src/knowledge/search/memory-index-storage.js';
import { openBuilds } from '../../ingestion/support/graph-builds.js';
import { TENANT } from '../../knowledge/base/support/new-base.js';

const MULTI_HOP = 'Which town does the writer of Orion live in?';
const SIMPLE = 'Orion uses Kafka';
const SETTINGS = {
  ...{ datasetIds: undefined, tools: undefined, mode: undefined, topN: 2, topK: 1_024, similarityThreshold: 0 },
  ...{ vectorShare: undefined, rerankId: undefined, crossLanguages: [] },
} as unknown as ChatSettings;

async function open({ isBuilt = true } = {}) {
  const kit = await openBuilds({}, { indexes: createSearchIndexes({ storage: createMemoryIndexStorage() }) as never });
  if (isBuilt) await kit.build();
  const asked: GraphsQuery[] = [];
  const real = createKnowledgeSearch(async () => kit.base, TENANT);
  const knowledge: KnowledgeSearch = {
    ...real,
    graphSearch: async (query, signal) => {
      asked.push(query);
      return (await real.graphSearch?.(query, signal)) ?? { hits: [], spent: { calls: 0, tokens: 0 } };
    },
  };
  const find = async (message: string, own: KnowledgeSearch = knowledge, change: Partial<ChatSettings> = {}) => {
    const input = {
      turn: { message, sessionId: '', runId: '', traceId: '' },
      memory: { history: [], summary: undefined },
      rewrites: { rewrites: [message], expansions: [] },
      intents: [{ kind: 'KB', confidence: 1 }],
    } as const;
    const options = { settings: { ...SETTINGS, ...change }, knowledge: own, callTool: () => of() };
    const { value, detail, status } = await lastValueFrom(findEvidence(input, of(undefined), options));
    return { value, channels: (detail.channels as { name: string }[]).map(({ name }) => name), status };
  };
  return { ...kit, asked, knowledge, find };
}

describe('the graph as a channel of a chat', () => {
  it('adds passages with the reason behind the first two, of questions that words alone may not answer', async () => {
    const { find, asked, knowledge } = await open();
    const { graphSearch: _, ...words } = knowledge;
    const plain = await find(MULTI_HOP, words);
    const { value, channels } = await find(MULTI_HOP);
    expect(asked).toMatchObject([{ kind: 'rank', question: MULTI_HOP }]);
    expect(channels).toEqual(['knowledge', 'links', 'graph']);
    expect(value.slice(0, 2).map(({ id }) => id)).toEqual(plain.value.slice(0, 2).map(({ id }) => id));
    expect(plain.value).toHaveLength(2);
    expect(value.length).toBeGreaterThan(2);
    for (const { type, why } of value.slice(2)) expect([type, Array.isArray(why?.entities)]).toEqual(['graph', true]);
    expect(value.map(({ n }) => n)).toEqual(value.map((_one, at) => at + 1));
    expect(new Set(value.map(({ id }) => id)).size).toBe(value.length);
  });

  it('looks for the way between two things, and around them where there is none', async () => {
    const { find, asked } = await open();
    const { value } = await find('How are Orion and Port Soller connected?');
    expect(asked.map(({ kind }) => kind)).toEqual(['path']);
    expect(JSON.stringify(value.map(({ why }) => why))).toContain('Port Soller');
    asked.length = 0;
    await find('How are Orion and Nowhere connected?');
    expect(asked.map(({ kind }) => kind)).toEqual(['path', 'local']);
  });

  it('is not asked of simple questions, of datasets without a graph, and with conditions on metadata', async () => {
    const { find, asked } = await open();
    expect((await find(SIMPLE)).channels).toEqual(['knowledge', 'links']);
    await find(MULTI_HOP, undefined, { filter: { logic: 'and', conditions: [] } });
    expect(asked).toEqual([]);
    const bare = await open({ isBuilt: false });
    const { channels, status } = await bare.find(MULTI_HOP);
    expect([channels, status, bare.asked]).toEqual([['knowledge', 'links'], 'ok', []]);
  });

  it('is asked of a simple question where links alone found much of what was found', async () => {
    const { find, asked, knowledge } = await open();
    const linked: KnowledgeSearch = {
      ...knowledge,
      async search(query, signal) {
        const found = await knowledge.search(query, signal);
        return { ...found, hits: found.hits.map((hit, at) => (at === 0 ? hit : { ...hit, scores: { link: 1 } })) };
      },
    };
    await find(SIMPLE, linked);
    expect(asked.map(({ kind }) => kind)).toEqual(['rank']);
  });

  it('is named where it fails, and takes nothing from the others', async () => {
    const { find, knowledge } = await open();
    const broken: KnowledgeSearch = {
      ...knowledge,
      graphSearch: async () => {
        throw new EngineError('LIMIT_REACHED', 'Graphs need too much memory.');
      },
    };
    const { value, channels, status } = await find(MULTI_HOP, broken);
    expect([channels, status]).toEqual([['knowledge', 'links', 'graph'], 'degraded']);
    expect(value.length).toBeGreaterThan(0);
  });
});

describe('the order of evidence with a graph', () => {
  it('tells why a passage is there that words found, too', () => {
    const [first, second] = graphBehindSecond([own('a', 'x'), own('b'), { ...led('x'), why: { entities: ['X'] } }]);
    expect([first?.why, second?.why]).toEqual([{ entities: ['X'] }, undefined]);
  });

  const own = (id: string, ...chunks: readonly string[]): Evidence => ({
    ...{ n: 1, id, type: 'kb', source: 's', text: 't', chunk_ids: [id, ...chunks] },
  });
  const led = (id: string): Evidence => ({ ...own(id), type: 'graph', why: {} });

  it.each<[string, readonly Evidence[], string]>([
    ['without a graph', [own('a'), own('b')], 'a b'],
    ['with more of the graph', [own('a'), own('b'), led('x'), led('y')], 'a b x y'],
    ['with more of the words', [own('a'), own('b'), own('c'), own('d'), led('x')], 'a b x c d'],
    ['of the graph alone', [led('x'), led('y')], 'x y'],
    ['without what stands in it', [own('a', 'x'), own('b'), led('x'), led('b'), led('y')], 'a b y'],
  ])('is kept %s', (_, evidence, wanted) => {
    const found = graphBehindSecond(evidence);
    expect(found.map(({ id }) => id).join(' ')).toBe(wanted);
  });
});
