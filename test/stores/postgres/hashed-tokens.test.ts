import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { prepareDatabase } from '../../../scripts/prepare-database.js';
import { createTokenStore, tokens } from '../../../src/records/tokens.js';
import { openDatabase } from '../../../src/stores/postgres/open-database.js';
import { openEmbedded } from '../support/open-stores.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { createLog } from '../support/test-log.js';

const MIGRATION = new URL('../../../src/stores/postgres/migrations/0004-hash-tokens.sql', import.meta.url);
const OLD = {
  token: `ragflow-${'Ab3_'.repeat(10)}xyz`,
  beta: 'p4ge'.repeat(8),
  agentId: 'one',
  createdAt: 1_700_000_000_000,
};

it('keys that were stored as they are become digests, and open what they opened', async () => {
  const dataDir = await temporaryFolder();
  const database = await openDatabase({ dataDir, log: createLog(), image: await prepareDatabase() });
  const digestOf = (text: string) => createHash('sha256').update(text).digest('base64url');
  const [token, beta] = [digestOf(OLD.token), digestOf(OLD.beta)];
  await database.sql`
    insert into runnel.tokens (tenant, id, token_digest, beta_digest, record)
    values (${'acme'}, ${token}, ${token}, ${beta}, ${JSON.stringify(OLD)})`;
  const text = await readFile(MIGRATION, 'utf8');
  // A second time it finds nothing to do.
  for (const _ of [1, 2]) await database.sql.unsafe(text);
  const [row] = await database.sql`select record::text as text from runnel.tokens`;
  for (const key of [OLD.token, OLD.beta]) expect(row?.text).not.toContain(key);
  await database.close();

  const stores = await openEmbedded(dataDir);
  const found = await stores.tokens.findByToken(OLD.token);
  expect(found).toEqual({ tenant: 'acme', record: tokenRecord() });
  expect(await stores.tokens.findByBeta(OLD.beta)).toEqual(found);
  await stores.close();
});

/** What the store makes of the same keys today. */
function tokenRecord(): unknown {
  let made: unknown;
  const repository = {
    insert: async (_: string, record: unknown) => {
      made = record;
    },
  };
  void createTokenStore(repository as never).insert('acme', OLD);
  expect(tokens.schema.safeParse(made).success).toBe(true);
  return made;
}
