import { firstValueFrom, Subject } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { seededRandom } from '../../../src/knowledge/graph/seeded-random.js';
import { givenLayer } from '../../../src/knowledge/graph/service/given-store.js';
import { createHeldGraphs, type HeldGraphs } from '../../../src/knowledge/graph/service/held-graphs.js';
import type { GraphDesk } from '../../../src/knowledge/graph/service/open-desk.js';
import { openOwnDesk } from '../../../src/knowledge/graph/service/own-desk.js';
import { type ContributionRecord, shardOf, textHash } from '../../../src/records/graph-store.js';
import type { ChunkRecord, DocumentRecord } from '../../../src/records/knowledge.js';
import type { KnowledgeStore } from '../../../src/records/knowledge-store.js';
import { createMemoryKnowledge } from '../../../src/stores/memory-knowledge.js';
import { chunkRecord, datasetRecord, documentRecord } from '../../stores/support/knowledge-records.js';

const TENANT = 'tenant';
const SEEDS = Array.from({ length: 12 }, (_, at) => at + 1);
const STEPS = 60;
const NAMES = ['Orion', 'Vega', 'Altair', 'Deneb', 'Rigel', 'Sirius', 'Polaris', 'Mira'];

/** What a text contributes: the names in it, and that the first knows the second. */
function contributionOf(document: DocumentRecord, { id, text }: ChunkRecord, layer: string): ContributionRecord {
  const names = [...new Set(text.match(/[A-Z]\w+/g))];
  const mentions = names.map((name) => ({
    ...{ name, type: 'concept', start: text.indexOf(name), end: text.indexOf(name) + name.length },
  }));
  const [source, target] = names;
  const relations =
    source === undefined || target === undefined
      ? []
      : [{ source, target, relation: 'knows', isExplicit: true, strength: 5, start: 0, end: text.length }];
  const body = { mentions, relations };
  return { chunkId: id, documentId: document.id, layer, version: '1', textHash: textHash(text), body };
}

/** A dataset whose documents have a chunk each, all of which contribute. */
async function begin(count: number) {
  const store = createMemoryKnowledge();
  const dataset = datasetRecord();
  await store.insertDataset(TENANT, dataset);
  const documents: { document: DocumentRecord; chunk: ChunkRecord }[] = [];
  const add = async (text: string) => {
    const document = documentRecord(dataset.id);
    const chunk = chunkRecord(document, 0, { text });
    await store.insertDocuments(TENANT, [document]);
    await store.putChunks(TENANT, document.id, 0, [chunk]);
    await store.putContributions(TENANT, dataset.id, [contributionOf(document, chunk, 'rules')]);
    documents.push({ document, chunk });
  };
  for (let at = 0; at < count; at += 1) await add(`Star${at} is there.`);
  return { store, dataset: dataset.id, documents, add };
}

/** All that is seen of a graph. */
async function seen(held: HeldGraphs, dataset: string): Promise<unknown> {
  const shown = await held.ask(TENANT, dataset, { kind: 'show', limit: 100 });
  return shown && { ...shown, found: await held.ask(TENANT, dataset, { kind: 'find', name: 'the hunter' }) };
}

function heldOf(store: KnowledgeStore, desk: GraphDesk = openOwnDesk()): HeldGraphs {
  onTestFinished(() => desk.close());
  return createHeldGraphs({ store, desk });
}

/** A store that counts its calls. */
function counting(store: KnowledgeStore) {
  const calls: [name: string, ...args: unknown[]][] = [];
  const counted = new Proxy(store, {
    get: (target, name) => {
      const own: unknown = Reflect.get(target, name);
      if (typeof own !== 'function') return own;
      return (...args: unknown[]): unknown => {
        calls.push([String(name), ...args]);
        return Reflect.apply(own, target, args);
      };
    },
  });
  return { counted, calls };
}

describe('graphs that are held', () => {
  it.each(SEEDS)('are as those that are read anew, whatever changes (seed %i)', async (seed) => {
    const random = seededRandom(seed);
    const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
    const { store, dataset, documents, add } = await begin(6);
    const held = heldOf(store);
    const text = (): string => `${pick(NAMES)} knows ${pick(NAMES)}; ${random()}.`;
    let given = 0;
    const changes: (() => Promise<unknown>)[] = [
      () => add(text()),
      () => store.discardDocuments(TENANT, dataset, [pick(documents).document.id]),
      () => store.updateDocument(TENANT, pick(documents).document.id, { isEnabled: random() < 0.5 }),
      () => {
        const { document, chunk } = pick(documents);
        return store.updateChunk(TENANT, document.id, chunk.id, { isAvailable: random() < 0.5 });
      },
      async () => {
        const { document, chunk } = pick(documents);
        const edited = await store.updateChunk(TENANT, document.id, chunk.id, { text: text() });
        if (edited === undefined || random() < 0.3) return;
        await store.putContributions(TENANT, dataset, [contributionOf(document, edited, 'rules')]);
      },
      () => {
        const { document, chunk } = pick(documents);
        return store.deleteChunks(TENANT, document.id, [chunk.id]);
      },
      async () => {
        const { document, chunk } = pick(documents);
        const [now] = await store.findChunks(TENANT, [chunk.id]);
        if (now !== undefined)
          await store.putContributions(TENANT, dataset, [contributionOf(document, now, pick(['model', 'links']))]);
      },
      () => store.deleteContributions(TENANT, dataset, pick(['model', 'links'])),
      async () => {
        given += 1;
        const { document, chunk } = pick(documents);
        const [now] = await store.findChunks(TENANT, [chunk.id]);
        if (now === undefined) return;
        const version = String(given);
        await store.putContributions(TENANT, dataset, [contributionOf(document, now, givenLayer(version))]);
        if (random() < 0.5) await seen(held, dataset);
        const mention = { name: `Given ${version}`, type: 'concept', start: 0, end: 0 };
        const notes = random() < 0.5 ? 1 : 0;
        const loose = [{ key: '0', value: { mentions: [mention], relations: [] } }].slice(0, notes);
        await store.putNotes(TENANT, dataset, givenLayer(version), loose);
        await store.putNotes(TENANT, dataset, 'given', [{ key: 'current', value: { version, notes } }]);
      },
      () =>
        store.updateDataset(TENANT, dataset, {
          graphRules: { terms: [{ name: pick(NAMES), type: 'star', aliases: ['the hunter'] }], patterns: [] },
        }),
      () => store.putNotes(TENANT, dataset, 'alias', [{ key: 'a', value: { entity: pick(NAMES), alias: 'Star' } }]),
      async () => {
        if (random() < 0.2) await store.clearGraph(TENANT, dataset);
      },
    ];
    for (let step = 0; step < STEPS; step += 1) {
      for (let change = 0; change <= random() * 3; change += 1) await pick(changes)();
      const desk = openOwnDesk();
      const fresh = await seen(createHeldGraphs({ store, desk }), dataset);
      await desk.close();
      expect({ step, seen: await seen(held, dataset) }).toEqual({ step, seen: fresh });
    }
  });

  it('read the heads of one shard when one document is deleted, and no notes', async () => {
    const { store, dataset, documents } = await begin(100);
    const { counted, calls } = counting(store);
    const held = heldOf(counted);
    const show = async (): Promise<number> =>
      (await held.ask(TENANT, dataset, { kind: 'counts' }))?.entities ?? Number.NaN;
    expect(await show()).toBe(100);
    const [gone] = documents.map(({ document }) => document.id) as [string];
    await store.discardDocuments(TENANT, dataset, [gone]);
    calls.splice(0);
    expect(await show()).toBe(99);
    const read = calls.filter(([name]) => !name.endsWith('Revision') && !name.endsWith('Revisions'));
    expect(read).toEqual([['shardHeads', TENANT, dataset, shardOf(gone), undefined, expect.any(Number)]]);
    calls.splice(0);
    expect(await show()).toBe(99);
    expect(calls.map(([name]) => name).sort()).toEqual(['graphRevision', 'shardRevisions']);
  });

  it('are read whole by a desk that has let go of them, also in the midst of a change', async () => {
    const { store, dataset, documents } = await begin(20);
    const own = openOwnDesk();
    const graph = JSON.stringify([TENANT, dataset]);
    let lost: string | undefined;
    const desk: GraphDesk = {
      ...own,
      async answer(request) {
        if (request.do === lost) {
          lost = undefined;
          await own.answer({ do: 'drop', graph });
        }
        return own.answer(request);
      },
    };
    const held = heldOf(store, desk);
    await seen(held, dataset);
    for (const [at, when] of ['begin', 'keep', 'put', 'end', 'ask'].entries()) {
      const { document, chunk } = documents[at] as (typeof documents)[number];
      const edited = await store.updateChunk(TENANT, document.id, chunk.id, { text: 'Mira knows Vega.' });
      await store.putContributions(TENANT, dataset, [contributionOf(document, edited as ChunkRecord, 'rules')]);
      lost = when;
      const now = await seen(held, dataset);
      expect({ when, lost }).toEqual({ when, lost: undefined });
      expect(now).toEqual(await seen(heldOf(store), dataset));
    }
  });

  it('answer nothing by a part, when a desk that has let go of them is brought them for another question', async () => {
    const { store, dataset } = await begin(3);
    const own = openOwnDesk();
    const [isPut, isAsked] = [new Subject<void>(), new Subject<void>()];
    const [wasPut, wasAsked] = [firstValueFrom(isPut), firstValueFrom(isAsked)];
    let other: Promise<unknown> | undefined;
    const held = heldOf(store, {
      ...own,
      async answer(request) {
        if (request.do === 'put' && other !== undefined) {
          isPut.next();
          await wasAsked;
        }
        if (request.do !== 'ask' || other !== undefined) return own.answer(request);
        await own.answer({ do: 'drop', graph: JSON.stringify([TENANT, dataset]) });
        other = held.ask(TENANT, dataset, { kind: 'counts' });
        await wasPut;
        const answer = await own.answer(request);
        isAsked.next();
        return answer;
      },
    });
    expect(await held.ask(TENANT, dataset, { kind: 'counts' })).toMatchObject({ entities: 3 });
    expect(await other).toMatchObject({ entities: 3 });
  });

  it('are without what was deleted while they were read for another question', async () => {
    const { store, dataset, documents } = await begin(3);
    const [isOpen, hasRead] = [new Subject<void>(), new Subject<void>()];
    const [opened, wasRead] = [firstValueFrom(isOpen), firstValueFrom(hasRead)];
    const slow: KnowledgeStore = {
      ...store,
      async readContributions(...args) {
        const read = await store.readContributions(...args);
        hasRead.next();
        await opened;
        return read;
      },
    };
    const held = heldOf(slow);
    const first = held.ask(TENANT, dataset, { kind: 'counts' });
    await wasRead;
    await store.discardDocuments(TENANT, dataset, [documents[0]?.document.id ?? '']);
    const second = held.ask(TENANT, dataset, { kind: 'counts' });
    isOpen.next();
    await first;
    expect(await second).toMatchObject({ entities: 2 });
  });

  it('are gone with their dataset', async () => {
    const { store, dataset } = await begin(3);
    const held = heldOf(store);
    expect(await seen(held, dataset)).toBeDefined();
    await store.discardDataset(TENANT, dataset);
    expect(await seen(held, dataset)).toBeUndefined();
  });
});
