import { createHash } from 'node:crypto';
import { BoundedMap } from '../bounded-map.js';
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
  /** The hash of a document that is known to be stored. */
  known(tenant: string, dsl: object): string | undefined;
  /** Forgets that a document is stored, because it was deleted. */
  forget(tenant: string, dsl: object): void;
  find(tenant: string, hash: string): Promise<object | undefined>;
}

const MAX_HELD = 100_000;

/** @param maxBytes of JSON that are held in memory, so that a conversation moves its document once. */
export function createDocuments(database: Database, maxBytes: number = 64 * 1024 ** 2): Documents {
  /** The written form of each value, made once and freed with the value. */
  const written = new WeakMap<object, Written>();
  /** The documents used last. */
  const held = new BoundedMap<object>({ what: 'documents', maxCount: MAX_HELD, maxBytes, canDrop: () => true });
  const hold = (tenant: string, hash: string, dsl: object, bytes: number): void => {
    if (bytes <= maxBytes) held.put(tenant, hash, dsl, bytes);
  };

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
      if (held.touch(tenant, hash) !== undefined) return hash;
      await database.repeat(
        (sql) => sql`
          insert into runnel.documents (tenant, hash, dsl) values (${tenant}, ${hash}, ${text})
          on conflict do nothing`,
      );
      hold(tenant, hash, dsl, text.length);
      return hash;
    },
    known(tenant, dsl) {
      const { hash } = write(dsl);
      return held.touch(tenant, hash) === undefined ? undefined : hash;
    },
    forget: (tenant, dsl) => void held.delete(tenant, write(dsl).hash),
    async find(tenant, hash) {
      const known = held.touch(tenant, hash);
      if (known !== undefined) return known;
      const [row] = await database.repeat(
        (sql) => sql<{ dsl: string }[]>`
          select dsl::text as dsl from runnel.documents where tenant = ${tenant} and hash = ${hash}`,
      );
      if (row === undefined) return undefined;
      const dsl = JSON.parse(row.dsl) as object;
      written.set(dsl, { hash, text: row.dsl });
      hold(tenant, hash, dsl, row.dsl.length);
      return dsl;
    },
  };
}
