import { filter, firstValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { ingestDocument } from '../../src/ingestion/ingest-document.js';
import { INGESTION_STEPS } from '../../src/ingestion/pipeline.js';
import type { IngestionProgress } from '../../src/knowledge/base/ingestion-hub.js';
import { createMemoryKnowledge } from '../../src/stores/memory-knowledge.js';
import { createFakeIndexes } from '../knowledge/base/support/fake-indexes.js';
import { newBase, TENANT } from '../knowledge/base/support/new-base.js';

const TTL_MS = 600_000;

describe('a document that is parsed', () => {
  it('is cut, stored with places in its text, and found', async () => {
    const { base, start, dataset, ingest, found } = newBase();
    start();
    const id = await dataset();
    const document = await ingest(id, 'animals.md', '# Cats\r\n\r\nCats sleep.\n\n# Dogs\n\nDogs bark.\n');
    expect(document).toMatchObject({ run: 'DONE', progress: 1, chunkCount: 1, suffix: 'md', type: 'doc' });
    expect(document.progressMsg).toContain('done, 1 chunks');
    expect(await found(id, 'bark')).toEqual(['animals.md: # Cats\n\nCats sleep.\n\n# Dogs\n\nDogs bark.']);
    const stored = await base.parts.texts.read(TENANT, base.parts.texts.idOf(document));
    const { items } = await base.chunks.list(TENANT, { documentId: document.id, offset: 0, limit: 10 });
    for (const { start: from, end, text: own } of items) expect(stored.text.slice(from ?? 0, end ?? 0)).toBe(own);
    expect(document.characters).toBe(stored.text.length);
  });

  it('tells its progress step by step, ever further', async () => {
    const { base, start, dataset, ingest } = newBase();
    start();
    const id = await dataset();
    const told: IngestionProgress[] = [];
    const subscription = base.progress(TENANT, id).subscribe((one) => told.push(one));
    await ingest(id, 'a.txt', 'one\n\ntwo');
    subscription.unsubscribe();
    const steps = [...new Set(told.map(({ step }) => step))];
    expect(steps).toEqual([...INGESTION_STEPS, '']);
    const shares = told.map(({ progress }) => progress);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(told.at(-1)).toMatchObject({ run: 'DONE', progress: 1, chunks: 1 });
  });

  it('keeps the chunks whose text did not change, with ids, vectors and what users set', async () => {
    const asked: string[] = [];
    const embedder = {
      embed: async (texts: readonly string[]) => {
        asked.push(...texts);
        return texts.map((text) => [text.length, 1]);
      },
    };
    const { base, indexes, start, dataset, ingest, ended } = newBase({ embedders: () => embedder });
    start();
    const id = await dataset('docs', { embeddingModel: 'm@A', parserConfig: { chunk_token_num: 8 } });
    const lines = (words: readonly string[]) => words.map((word) => `${word} ${word} ${word} ${word}`).join('\n');
    const first = await ingest(id, 'a.txt', lines(['alpha', 'beta', 'gamma']));
    const list = async () => (await base.chunks.list(TENANT, { documentId: first.id, offset: 0, limit: 10 })).items;
    const before = await list();
    expect(before).toHaveLength(3);
    await base.chunks.update(TENANT, first.id, before[2]?.id as string, { keywords: ['mine'] });
    const [added, embedded] = [indexes.added(), asked.length];
    const content = [new TextEncoder().encode(lines(['alpha', 'delta', 'gamma']))];
    const again = await base.documents.add(TENANT, id, { name: 'A.TXT', content }, { sameName: 'replace' });
    expect(again).toMatchObject({ outcome: 'replaced', document: { id: first.id, run: 'RUNNING' } });
    await ended(first.id);
    const after = await list();
    expect(after.map(({ text }) => text.split(' ')[0])).toEqual(['alpha', 'delta', 'gamma']);
    expect([after[0]?.id, after[2]?.id, after[2]?.keywords]).toEqual([before[0]?.id, before[2]?.id, ['mine']]);
    expect(after[1]?.id).not.toBe(before[1]?.id);
    expect([indexes.added() - added, asked.length - embedded]).toEqual([1, 1]);
    expect([...indexes.passages(TENANT, id).keys()].sort()).toEqual(after.map((one) => one.id).sort());
  });

  it('is not touched when it comes again with the same bytes', async () => {
    const { base, indexes, start, dataset, ingest } = newBase();
    start();
    const id = await dataset();
    const first = await ingest(id, 'a.txt', 'one');
    const added = indexes.added();
    const content = [new TextEncoder().encode('one')];
    const again = await base.documents.add(TENANT, id, { name: 'a.txt', content }, { sameName: 'replace' });
    expect(again).toMatchObject({ outcome: 'unchanged', document: { id: first.id, attempt: 1 } });
    expect(indexes.added()).toBe(added);
  });

  it('is not read twice when its bytes are known, and names the document that has them', async () => {
    const { base, start, dataset, ingest } = newBase();
    start();
    const id = await dataset();
    const first = await ingest(id, 'a.txt', 'one');
    const second = await ingest(id, 'a.txt', 'one');
    expect(second).toMatchObject({ name: 'a(1).txt', duplicateOf: first.id, run: 'DONE', chunkCount: 1 });
    expect(second.progressMsg).toContain('the same bytes were read before');
    await base.documents.delete(TENANT, id, [first.id]);
    const text = base.parts.texts.idOf(second);
    expect(await base.parts.texts.has(TENANT, text)).toBe(true);
    await base.documents.delete(TENANT, id, [second.id]);
    expect(await base.parts.texts.has(TENANT, text)).toBe(false);
  });

  it('is cut by the method and the settings of its dataset', async () => {
    const { base, start, dataset, ingest, texts } = newBase();
    start();
    const chunksOf = async (method: string, name: string, content: string) => {
      const id = await dataset(`${method} ${name}`, { chunkMethod: method });
      const { id: documentId } = await ingest(id, name, content);
      return {
        texts: await texts(documentId),
        list: (await base.chunks.list(TENANT, { documentId, offset: 0, limit: 9 })).items,
      };
    };
    expect((await chunksOf('book', 'a.md', '# A\n\none\n\n# B\n\ntwo')).texts).toEqual(['# A\n\none', '# B\n\ntwo']);
    expect((await chunksOf('one', 'a.md', '# A\n\none\n\n# B')).texts).toEqual(['# A\n\none\n\n# B']);
    const table = await chunksOf('table', 'a.csv', 'name,age\nAda,36\n"Alan\nT.",41\n');
    expect(table.texts).toEqual(['Ada,36', '"Alan\nT.",41']);
    expect(table.list[0]?.context).toBe('name,age');
    const pairs = await chunksOf('qa', 'a.csv', 'Who?,Ada\n,nothing\nWhen?,1843\n');
    expect(pairs.list.map(({ text, questions }) => [text, ...questions])).toEqual([
      ['Who?,Ada', 'Who?'],
      ['When?,1843', 'When?'],
    ]);
    const tags = await chunksOf('tag', 'a.csv', 'a cat sleeps,"animal, pet"\n');
    expect(tags.list[0]?.tags).toEqual(['animal', 'pet']);
    const sections = await chunksOf('naive', 'a.md', `# Top\n\n${'word '.repeat(600)}\n`);
    expect(sections.list[1]?.headings).toEqual(['Top']);
  });

  it('gets keywords and questions where its settings ask for them', async () => {
    const { base, start, dataset, ingest, found } = newBase();
    start({
      enrich: async (chunks, wanted) =>
        chunks.map(() => ({ keywords: ['a', 'b', 'c'], questions: [`who barks ${wanted.questions}`] })),
    });
    const id = await dataset('docs', { parserConfig: { auto_keywords: 2, auto_questions: 1 } });
    const { id: documentId } = await ingest(id, 'a.txt', 'Dogs.');
    const { items } = await base.chunks.list(TENANT, { documentId, offset: 0, limit: 9 });
    expect(items[0]).toMatchObject({ keywords: ['a', 'b'], questions: ['who barks 1'] });
    expect(await found(id, 'barks')).toEqual(['a.txt: Dogs.']);
  });

  it('is found by its words when its model cannot be reached, and by vectors when it is parsed again', async () => {
    let isAway = true;
    const embedder = {
      async embed(texts: readonly string[]) {
        if (isAway) throw new EngineError('MODEL_UNAVAILABLE', 'too many requests', { retryable: true });
        return texts.map(() => [1, 0]);
      },
    };
    const { base, start, dataset, ingest, ended, found } = newBase({ embedders: () => embedder });
    start();
    const id = await dataset('docs', { embeddingModel: 'm@A' });
    const document = await ingest(id, 'a.txt', 'Dogs bark.');
    expect(document).toMatchObject({ run: 'DONE', progressMsg: expect.stringContaining('too many requests') });
    expect(await found(id, 'bark')).toEqual(['a.txt: Dogs bark.']);
    isAway = false;
    await base.documents.parse(TENANT, id, [document.id]);
    expect((await ended(document.id)).progressMsg).toContain('made 1 vectors');
    const query = { question: 'bark', datasetIds: [id], similarityThreshold: 0 };
    const { hits } = await base.search(TENANT, query, new AbortController().signal);
    expect(hits[0]).toMatchObject({ vectorSimilarity: 1, termSimilarity: 1, similarity: 1, scores: { vector: 1 } });
  });

  it('fails with EMBEDDING_MISMATCH when its model gives vectors of different lengths', async () => {
    const embedder = { embed: async (texts: readonly string[]) => texts.map((_, at) => new Array(at + 1).fill(1)) };
    const { start, dataset, ingest } = newBase({ embedders: () => embedder });
    start();
    const id = await dataset('docs', { embeddingModel: 'm@A', parserConfig: { chunk_token_num: 1 } });
    const document = await ingest(id, 'a.txt', 'one two');
    expect(document).toMatchObject({
      run: 'FAIL',
      progress: -1,
      progressMsg: expect.stringContaining('EMBEDDING_MISMATCH'),
    });
  });

  it('goes on behind the last step that a process before has finished', async () => {
    const { base, start, dataset, add, ended, texts } = newBase();
    const id = await dataset();
    const document = await add(id, 'a.txt', 'never read again');
    const { store, texts: stored } = base.parts;
    const done = (name: string, output: object) =>
      store.saveStep(TENANT, document.id, 1, { name, output: output as never, startedAt: 1, finishedAt: 2 });
    const textId = stored.idOf(document);
    await done('load', { textId, isRead: false });
    await done('detect', { kind: 'text', form: 'text' });
    await done('parse', { characters: 8 });
    await done('clean', { characters: 8, isCut: false });
    // What the process before had read.
    await stored.save(TENANT, textId, { text: 'as read.' }, 1);
    start();
    expect(await ended(document.id)).toMatchObject({ run: 'DONE' });
    expect(await texts(document.id)).toEqual(['as read.']);
  });

  it('has each chunk once when its process is broken off at any moment, again and again', async () => {
    const { base, indexes, start, dataset, add, ended, texts } = newBase();
    const id = await dataset('docs', { parserConfig: { chunk_token_num: 12 } });
    const words = Array.from({ length: 300 }, (_, at) => `word${at} verb${at}`);
    const document = await add(id, 'a.txt', words.join('\n'));
    for (let moment = 1; moment <= 12; moment += 1) {
      const told = firstValueFrom(base.progress(TENANT, id).pipe(filter((_, at) => at === moment)));
      const subscription = start();
      await Promise.race([told, ended(document.id)]);
      subscription.unsubscribe();
    }
    start();
    await ended(document.id);
    const chunks = await texts(document.id);
    expect(new Set(chunks).size).toBe(chunks.length);
    expect(chunks.join('\n')).toBe(words.join('\n'));
    expect(indexes.passages(TENANT, id).size).toBe(chunks.length);
  });

  it('fails when three processes were lost on it between two steps', async () => {
    const { base, start, dataset, add, ended } = newBase();
    const id = await dataset();
    const document = await add(id, 'a.txt', 'one');
    for (const owner of ['a', 'b', 'c']) await base.parts.store.claim(owner, TENANT, id, 0);
    start();
    const failed = await ended(document.id);
    expect(failed).toMatchObject({ run: 'FAIL', progressMsg: expect.stringContaining('INGEST_FAILED') });
  });

  it('fails when its file is gone', async () => {
    const { base, start, dataset, add, ended } = newBase();
    const id = await dataset();
    const document = await add(id, 'a.txt', 'one');
    await base.parts.files.delete(TENANT, document.fileId as string);
    start();
    expect((await ended(document.id)).progressMsg).toContain('upload it again. [INGEST_FAILED]');
  });
});

describe('a document that is stopped', () => {
  it('is at rest at once, and its work ends', async () => {
    const { base, start, dataset, add } = newBase();
    let isStopped = false;
    const begun = new Promise<void>((resolve) => {
      const chunker = {
        chunk: () => {
          resolve();
          return new Promise<never>(() => {});
        },
      };
      start({ chunker });
    });
    const id = await dataset();
    const document = await add(id, 'a.txt', 'one');
    await begun;
    const told = base.progress(TENANT, id).subscribe(({ run }) => {
      isStopped ||= run === 'CANCEL';
    });
    expect(await base.documents.stop(TENANT, id, [document.id])).toMatchObject([{ run: 'CANCEL' }]);
    told.unsubscribe();
    expect(isStopped).toBe(true);
    expect(await base.documents.find(TENANT, id, document.id)).toMatchObject({
      run: 'CANCEL',
      progress: 0,
      chunkCount: 0,
    });
    expect(await base.documents.stop(TENANT, id, [document.id])).toEqual([]);
  });

  it('leaves what another process works on to it', async () => {
    const { base, dataset, add } = newBase();
    const id = await dataset();
    const document = await add(id, 'a.txt', 'one');
    const { store } = base.parts;
    const claim = await store.claim('ours', TENANT, id, TTL_MS);
    await store.cancel(TENANT, [document.id]);
    await store.enqueue(TENANT, [document.id]);
    const ours = { ...claim, tenant: TENANT, owner: 'ours', ttlMs: TTL_MS } as Parameters<typeof ingestDocument>[1];
    await firstValueFrom(ingestDocument({ parts: base.parts }, ours).pipe(toArray()));
    expect(await store.findDocument(TENANT, document.id)).toMatchObject({ run: 'RUNNING', chunkCount: 0 });
    expect(await store.claim('theirs', TENANT, id, TTL_MS)).toBeDefined();
  });
});

describe('a document whose bytes are replaced while it is parsed', () => {
  it('is searchable with the new ones alone', async () => {
    const { base, start, dataset, add, ended, texts } = newBase();
    let isFirst = true;
    const begun = new Promise<void>((resolve) => {
      const chunker = {
        chunk({ text }: { text: string }) {
          const draft = { start: 0, end: text.length, text, tokens: 1 };
          if (!isFirst) return [draft];
          isFirst = false;
          resolve();
          return new Promise<never>(() => {});
        },
      };
      start({ chunker });
    });
    const id = await dataset();
    const document = await add(id, 'a.txt', 'old');
    await begun;
    const content = [new TextEncoder().encode('new')];
    await base.documents.add(TENANT, id, { name: 'a.txt', content }, { sameName: 'replace' });
    expect(await ended(document.id)).toMatchObject({ run: 'DONE', size: 3 });
    expect(await texts(document.id)).toEqual(['new']);
    expect(await base.parts.files.find(TENANT, document.fileId as string)).toBeUndefined();
  });
});

describe('a document that is deleted while it is parsed', () => {
  it('leaves neither chunks nor passages nor files', async () => {
    const store = createMemoryKnowledge();
    const { base, indexes, start, dataset, add } = newBase({ store });
    const id = await dataset();
    let resume = (): void => {};
    const begun = new Promise<void>((resolve) => {
      const chunker = {
        async chunk() {
          resolve();
          await new Promise<void>((go) => {
            resume = go;
          });
          return [{ start: 0, end: 3, text: 'one', tokens: 1 }];
        },
      };
      start({ chunker });
    });
    const document = await add(id, 'a.txt', 'one');
    await begun;
    expect(await base.documents.delete(TENANT, id, [document.id])).toEqual([document.id]);
    resume();
    await base.removeRemains();
    expect(await store.remains(10)).toEqual([]);
    expect(indexes.passages(TENANT, id).size).toBe(0);
    expect(await base.parts.files.find(TENANT, document.fileId as string)).toBeUndefined();
    expect(await base.parts.texts.has(TENANT, base.parts.texts.idOf(document))).toBe(false);
  });
});

describe('documents in line', () => {
  it('are parsed two at a time, with turns between tenants and datasets', async () => {
    const { base, start } = newBase();
    const { store } = base.parts;
    const order: string[] = [];
    for (const [tenant, datasets] of [
      ['a', ['1', '2']],
      ['b', ['3']],
    ] as const) {
      for (const name of datasets) {
        await store.insertDataset(tenant, { ...(await base.datasets.create('x', { name })).dataset, id: name });
        for (const number of [1, 2, 3]) {
          const content = [new TextEncoder().encode(`${name}${number}`)];
          const { document } = await base.documents.add(tenant, name, { name: `${number}.txt`, content });
          await base.documents.parse(tenant, name, [document.id]);
        }
      }
    }
    let [working, most] = [0, 0];
    const chunker = {
      async chunk({ text }: { text: string }) {
        order.push(text);
        working += 1;
        most = Math.max(most, working);
        await new Promise((resolve) => setImmediate(resolve));
        working -= 1;
        return [];
      },
    };
    const done = new Promise<void>((resolve) => {
      let ends = 0;
      for (const tenant of ['a', 'b']) {
        base.progress(tenant).subscribe(({ run }) => {
          ends += run === 'DONE' ? 1 : 0;
          if (ends === 9) resolve();
        });
      }
    });
    start({ chunker });
    await done;
    expect(most).toBe(2);
    // Of the first six, as many of tenant b as of both datasets of tenant a together.
    const first = order.slice(0, 6);
    expect(first.filter((text) => text.startsWith('3'))).toHaveLength(3);
    expect(first.filter((text) => text.startsWith('1'))).toHaveLength(
      2 - (first.filter((text) => text.startsWith('2')).length - 1),
    );
  });

  it('are parsed once by two processes', async () => {
    const store = createMemoryKnowledge();
    const indexes = createFakeIndexes();
    const first = newBase({ store, indexes });
    const second = newBase({ store, indexes, files: first.base.parts.files });
    const id = await first.dataset();
    const documents = await Promise.all(['a', 'b', 'c', 'd'].map((name) => first.add(id, `${name}.txt`, name)));
    first.start({ pollMs: 5 });
    second.start({ pollMs: 5 });
    const { base } = first;
    for (;;) {
      const { total } = await store.listDocuments(TENANT, {
        offset: 0,
        limit: 1,
        orderBy: 'name',
        descending: false,
        runs: ['DONE'],
      });
      if (total === documents.length) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(indexes.added()).toBe(4);
    expect(base.parts.store).toBe(store);
  });

  it('that others always take first are looked for again later, and not in a circle', async () => {
    const store = createMemoryKnowledge();
    let claims = 0;
    const claim: typeof store.claim = async () => {
      claims += 1;
      return undefined;
    };
    const waiting: typeof store.waiting = async () => [{ tenant: TENANT, datasetId: 'd', active: 0, waiting: 1 }];
    newBase({ store: { ...store, claim, waiting } }).start({ pollMs: 600_000 });
    for (let before = -1; before !== claims; ) {
      before = claims;
      for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      if (claims > 1_000) break;
    }
    expect(claims).toBeGreaterThan(1);
    expect(claims).toBeLessThan(100);
  });

  it('wait while the store cannot be reached', async () => {
    const store = createMemoryKnowledge();
    let isAway = false;
    const shaky = {
      ...store,
      findDataset: (async (...given: Parameters<typeof store.findDataset>) => {
        if (!isAway) return store.findDataset(...given);
        isAway = false;
        throw new EngineError('STORE_UNAVAILABLE', 'away', { retryable: true });
      }) as typeof store.findDataset,
    };
    const { base, dataset, add } = newBase({ store: shaky });
    const id = await dataset();
    const document = await add(id, 'a.txt', 'one');
    const claim = async () =>
      ({ ...(await store.claim('o', TENANT, id, TTL_MS)), tenant: TENANT, owner: 'o', ttlMs: TTL_MS }) as Parameters<
        typeof ingestDocument
      >[1];
    isAway = true;
    const lost = firstValueFrom(ingestDocument({ parts: base.parts }, await claim()).pipe(toArray()));
    await expect(lost).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(await store.findDocument(TENANT, document.id)).toMatchObject({ run: 'RUNNING' });
    await firstValueFrom(ingestDocument({ parts: base.parts }, await claim()).pipe(toArray()));
    expect(await store.findDocument(TENANT, document.id)).toMatchObject({ run: 'DONE' });
  });
});
