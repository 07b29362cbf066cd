import { firstValueFrom, Subject } from 'rxjs';
import { expect, it, onTestFinished } from 'vitest';
import { embedInBackground } from '../../src/ingestion/embed-in-background.js';
import type { LocalModel } from '../../src/knowledge/base/minilm/local-model.js';
import { createSearchIndexes } from '../../src/knowledge/base/search-indexes.js';
import { createMemoryIndexStorage } from '../../src/knowledge/search/memory-index-storage.js';
import type { FakeIndexes } from '../knowledge/base/support/fake-indexes.js';
import { newBase, TENANT, type TestBase } from '../knowledge/base/support/new-base.js';

const ENGLISH = 'The pump of the old mill is broken, and there is no one in the village who can mend it.';
const CHINESE = '断路器在五次失败之后打开，五分钟之后再试一次。检查点保存在数据库里。';

/** A local model that tells each passage that it is given, and can be made to fail. */
function fakeModel() {
  const asked: string[] = [];
  const told$ = new Subject<number>();
  const state = { failure: undefined as Error | undefined };
  const vectorOf = (text: string): number[] => [text.includes('mill') ? 1 : 0, text.includes('ship') ? 1 : 0, 0.1];
  const model: LocalModel = {
    name: 'fake@local',
    questions: { embed: async (texts) => texts.map(() => [0, 1, 0.1]) },
    passages: {
      async embed(texts) {
        asked.push(...texts);
        told$.next(asked.length);
        if (state.failure !== undefined) throw state.failure;
        return texts.map(vectorOf);
      },
    },
  };
  return { model, asked, told$, state };
}

function newLocalBase(local?: LocalModel): TestBase {
  const indexes = createSearchIndexes({ storage: createMemoryIndexStorage() }) as unknown as FakeIndexes;
  return newBase({ indexes, local });
}

/** Begins, and ends with the test; gives the errors that are told. */
function begin({ base }: TestBase, pollMs?: number) {
  const errors: unknown[] = [];
  const told$ = new Subject<unknown>();
  const onError = (error: unknown): void => {
    errors.push(error);
    told$.next(error);
  };
  const subscription = embedInBackground({ parts: base.parts, pollMs, onError }).subscribe();
  onTestFinished(() => subscription.unsubscribe());
  return { errors, told$, stop: () => subscription.unsubscribe() };
}

/** Waits until no chunk of a dataset lacks a vector. */
async function complete({ base }: TestBase, { model }: ReturnType<typeof fakeModel>): Promise<void> {
  for (;;) {
    const gaps = await base.parts.store.vectorGaps(model.name, undefined, 100);
    if (gaps.every(({ isOpen }) => !isOpen)) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const vectorsFound = async ({ base }: TestBase, datasetId: string, question: string): Promise<number[]> => {
  const query = { question, datasetIds: [datasetId], similarityThreshold: 0 };
  const { hits } = await base.search(TENANT, query, new AbortController().signal);
  return hits.map(({ scores }) => scores.vector ?? -1);
};

it('makes the vectors of documents that are parsed, after they are found by words', async () => {
  const fake = fakeModel();
  const made = newLocalBase(fake.model);
  made.start();
  const id = await made.dataset();
  await made.ingest(id, 'mill.txt', ENGLISH);
  expect(await vectorsFound(made, id, 'broken pump')).toEqual([-1]);
  expect(fake.asked).toEqual([]);
  begin(made);
  await complete(made, fake);
  await made.ingest(id, 'ship.txt', 'The ship is in the harbour, and the crew is on the way to the town.');
  await complete(made, fake);
  expect(fake.asked).toHaveLength(2);
  // No word of the question is in it.
  expect((await made.found(id, 'vessels'))[0]).toContain('ship.txt');
});

it('goes on where it was broken off', async () => {
  const fake = fakeModel();
  const made = newLocalBase(fake.model);
  made.start();
  const id = await made.dataset('docs', { parserConfig: { chunk_token_num: 16, delimiter: '\n' } });
  const lines = Array.from(
    { length: 20 },
    (_, at) => `The mill number ${at} is at the end of the road to the north of it.`,
  );
  const document = await made.ingest(id, 'mills.txt', lines.join('\n'));
  const chunks = (await made.texts(document.id)).length;
  expect(chunks).toBeGreaterThan(16);
  const { stop } = begin(made);
  // Stored before the next ones are asked for.
  while (fake.asked.length <= 8) await firstValueFrom(fake.told$);
  stop();
  const before = fake.asked.length;
  expect(before).toBeLessThan(chunks);
  begin(made);
  await complete(made, fake);
  // At most those are made again that were not stored yet.
  expect(fake.asked.length).toBeGreaterThanOrEqual(chunks);
  expect(fake.asked.length).toBeLessThanOrEqual(chunks + 8);
});

it('leaves alone what is not in English, and datasets that name a model', async () => {
  const fake = fakeModel();
  const made = newLocalBase(fake.model);
  made.start();
  const [marked, chinese, named, english] = [
    await made.dataset('marked', { language: 'Chinese' }),
    await made.dataset('chinese'),
    await made.dataset('named', { embeddingModel: 'other@A' }),
    await made.dataset('english'),
  ];
  await made.ingest(marked, 'a.txt', ENGLISH);
  await made.ingest(chinese, 'a.txt', CHINESE);
  await made.ingest(named, 'a.txt', ENGLISH);
  const last = await made.ingest(english, 'a.txt', ENGLISH);
  begin(made);
  const stored = async (): Promise<number> => {
    const chunks = await made.base.parts.store.chunksAfter(TENANT, last.id, undefined, 10);
    return (
      await made.base.parts.store.findVectors(
        TENANT,
        fake.model.name,
        chunks.map(({ id }) => id),
      )
    ).length;
  };
  while ((await stored()) === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(fake.asked).toEqual([ENGLISH]);
});

it('tells what fails, and tries it again with the next look', async () => {
  const fake = fakeModel();
  const made = newLocalBase(fake.model);
  made.start();
  const id = await made.dataset();
  await made.ingest(id, 'mill.txt', ENGLISH);
  fake.state.failure = new Error('no vectors today');
  const { errors, told$ } = begin(made, 1);
  await firstValueFrom(told$);
  expect(errors[0]).toBe(fake.state.failure);
  fake.state.failure = undefined;
  await complete(made, fake);
});

it('does nothing without a local model', async () => {
  let isOver = false;
  embedInBackground({ parts: newLocalBase().base.parts }).subscribe({ complete: () => (isOver = true) });
  expect(isOver).toBe(true);
});
