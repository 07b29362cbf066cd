import { createHash } from 'node:crypto';
import type { Database } from './database.js';

/** A document in its written form. */
interface Written {
  readonly hash: string;
  readonly text: string;
}

/** Documents by their hash, each stored once per tenant however many records share it. */
export interface Documents {
  /** Stores a document unless it is known to be stored; its hash. */
  store(tenant: string, dsl: object): Promise<string>;
  /** Forgets that a document is stored, because it was deleted. */
  forget(tenant: string, dsl: object): void;
  find(tenant: string, hash: string): Promise<object | undefined>;
}

/** @param maxBytes of JSON that are held in memory, so that a conversation moves its document once. */
export function createDocuments(database: Database, maxBytes: number = 64 * 1024 ** 2): Documents {
  /** Each value is written once, and freed with the value. */
  const written = new WeakMap<object, Written>();
  const held = new HeldDocuments(maxBytes);

  const write = (dsl: object): Written => {
    let found = written.get(dsl);
    if (found === undefined) {
      const text = JSON.stringify(dsl);
      found = { hash: createHash('sha256').update(text).digest('base64url'), text };
      written.set(dsl, found);
    }
    return found;
  };

  return {
    async store(tenant, dsl) {
      const { hash, text } = write(dsl);
      if (held.get(tenant, hash) !== undefined) return hash;
      await database.repeat(
        (sql) => sql`
          insert into runnel.documents (tenant, hash, dsl) values (${tenant}, ${hash}, ${text})
          on conflict do nothing`,
      );
      held.put(tenant, hash, dsl, text.length);
      return hash;
    },
    forget: (tenant, dsl) => held.delete(tenant, write(dsl).hash),
    async find(tenant, hash) {
      const known = held.get(tenant, hash);
      if (known !== undefined) return known;
      const [row] = await database.repeat(
        (sql) => sql<{ dsl: string }[]>`
          select dsl::text as dsl from runnel.documents where tenant = ${tenant} and hash = ${hash}`,
      );
      if (row === undefined) return undefined;
      const dsl = JSON.parse(row.dsl) as object;
      written.set(dsl, { hash, text: row.dsl });
      held.put(tenant, hash, dsl, row.dsl.length);
      return dsl;
    },
  };
}

/** The documents used last, bounded in bytes. */
class HeldDocuments {
  readonly #maxBytes: number;
  readonly #entries = new Map<string, { readonly dsl: object; readonly bytes: number }>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(tenant: string, hash: string): object | undefined {
    const key = keyOf(tenant, hash);
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.dsl;
  }

  put(tenant: string, hash: string, dsl: object, bytes: number): void {
    this.delete(tenant, hash);
    this.#entries.set(keyOf(tenant, hash), { dsl, bytes });
    this.#bytes += bytes;
    for (const key of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#drop(key);
    }
  }

  delete(tenant: string, hash: string): void {
    this.#drop(keyOf(tenant, hash));
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}

/** A hash has no blank. */
function keyOf(tenant: string, hash: string): string {
  return `${hash} ${tenant}`;
}
