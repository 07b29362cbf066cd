/** Results that were seen before. They are kept in this browser, the newest ones, and are never sent anywhere. */
import { isJsonObject, type Json } from '../../src/json.js';
import type { EvaluationResult } from './evaluation-result.js';

/** What the list shows of a result. */
export interface EarlierResult {
  /** Made of what it measured, so that the same result is there once. */
  readonly id: string;
  readonly name: string;
  /** What was measured. */
  readonly of: string;
  readonly means: Readonly<Record<string, number>>;
  readonly questions: number;
  /** When it was seen last, in milliseconds since 1970. */
  readonly atMs: number;
}

/** Results that are kept. */
const MAX_KEPT = 50;

/** The list, and the texts of its results beside it: a list is read without them. */
const HEADS = 'results';
const TEXTS = 'texts';

/** The results of one server and tenant in this browser. Its promises fail where the browser keeps nothing. */
export class EarlierResults {
  readonly #database: string;

  /** @param owner tells tenants apart that use the same browser */
  constructor(owner: string) {
    this.#database = `runnel.evaluations ${location.pathname} ${owner}`;
  }

  /** The newest first. */
  list(): Promise<readonly EarlierResult[]> {
    return this.#with('readonly', async (heads) => newestFirst(await heads.all()));
  }

  /** Adds a result, and forgets those that are too many. */
  keep({ fileName: name, of, means, questions }: EvaluationResult, text: string): Promise<void> {
    const id = JSON.stringify([name, of, means, questions.length]);
    const head: EarlierResult = { id, name, of, means, questions: questions.length, atMs: Date.now() };
    return this.#with('readwrite', async (heads, texts) => {
      await heads.put({ ...head }, id);
      await texts.put(text, id);
      const tooMany = newestFirst(await heads.all()).slice(MAX_KEPT);
      await Promise.all(tooMany.flatMap((one) => [heads.delete(one.id), texts.delete(one.id)]));
    });
  }

  /** The text of a result; undefined when it is gone. */
  textOf(id: string): Promise<string | undefined> {
    return this.#with('readonly', async (_, texts) => {
      const text = await texts.get(id);
      return typeof text === 'string' ? text : undefined;
    });
  }

  forget(id: string): Promise<void> {
    return this.#with('readwrite', async (heads, texts) => {
      await Promise.all([heads.delete(id), texts.delete(id)]);
    });
  }

  /** Does something with both stores, in one transaction. */
  async #with<Value>(
    mode: IDBTransactionMode,
    work: (heads: KeptValues, texts: KeptValues) => Promise<Value>,
  ): Promise<Value> {
    const opening = indexedDB.open(this.#database, 1);
    opening.onupgradeneeded = () => {
      for (const name of [HEADS, TEXTS]) opening.result.createObjectStore(name);
    };
    const database = await answer(opening);
    try {
      const transaction = database.transaction([HEADS, TEXTS], mode);
      const ended = new Promise<void>((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error);
      });
      const [value] = await Promise.all([
        work(valuesOf(transaction.objectStore(HEADS)), valuesOf(transaction.objectStore(TEXTS))),
        ended,
      ]);
      return value;
    } finally {
      database.close();
    }
  }
}

/** One store of the browser, with promises. */
interface KeptValues {
  all(): Promise<readonly Json[]>;
  get(key: string): Promise<Json | undefined>;
  put(value: Json, key: string): Promise<unknown>;
  delete(key: string): Promise<unknown>;
}

function valuesOf(store: IDBObjectStore): KeptValues {
  return {
    all: () => answer(store.getAll()),
    get: (key) => answer<Json | undefined>(store.get(key)),
    put: (value, key) => answer(store.put(value, key)),
    delete: (key) => answer(store.delete(key)),
  };
}

function answer<Value>(request: IDBRequest<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** What another version of the page kept otherwise is left out. */
function newestFirst(kept: readonly Json[]): readonly EarlierResult[] {
  const results = kept.flatMap((one): readonly EarlierResult[] =>
    isJsonObject(one) && typeof one.id === 'string' && typeof one.atMs === 'number' && isJsonObject(one.means)
      ? [one as unknown as EarlierResult]
      : [],
  );
  return results.toSorted((a, b) => b.atMs - a.atMs);
}
