import { describe, expect, it } from 'vitest';
import type { Studio } from '../../src/transport/studio/studio-files.js';
import { startServer } from './support/server.js';

const INFO = '/api/v1/system/info';
const ACME = 'the-key-of-acme-1234';
const KEYS = { RUNNEL_API_KEYS: `acme=${ACME}` };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

describe('GET /system/info', () => {
  it('tells all on a server without keys', async () => {
    const { call } = await startServer({
      about: { version: '1.2.3', kept: { database: 'embedded', runs: 'redis' } },
      env: { RUNNEL_DOCUMENT_BYTES: '4096' },
    });
    const { status, body } = await call('GET', INFO);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      name: 'runnel',
      version: '1.2.3',
      keys: false,
      studio: false,
      tenant: 'local',
      made_key: false,
      limits: { document_bytes: 4096, requests_per_minute: null, runs_per_minute: null },
      kept: { database: 'embedded', runs: 'redis' },
    });
    expect(body.data.parts).toEqual(['agents', 'runs', 'chat']);
  });

  it('tells strangers only what a login needs, and the rest with a key', async () => {
    const server = await startServer({
      env: KEYS,
      about: { version: '1', kept: { database: 'postgres', runs: 'database' } },
    });
    const open = await server.call('GET', INFO);
    expect(open.body.data).toEqual({ name: 'runnel', version: '1', keys: true, studio: false });
    const own = await server.call('GET', INFO, undefined, bearer(ACME));
    expect(own.body.data).toMatchObject({ tenant: 'acme', made_key: false, limits: { requests_per_minute: 6_000 } });
    const made = await server.call('POST', '/api/v1/system/tokens', {}, bearer(ACME));
    const with_made = await server.call('GET', INFO, undefined, bearer(made.body.data.token));
    expect(with_made.body.data).toMatchObject({ tenant: 'acme', made_key: true });
    expect(JSON.stringify([own.body, with_made.body])).not.toContain(ACME);
  });

  it('refuses a wrong key and the key of a chat page, and counts them', async () => {
    const { call } = await startServer({ env: { ...KEYS, RUNNEL_REFUSALS_PER_MINUTE: '2' } });
    const made = await call('POST', '/api/v1/system/tokens', {}, bearer(ACME));
    expect((await call('GET', INFO, undefined, bearer(made.body.data.beta))).status).toBe(401);
    expect((await call('GET', INFO, undefined, bearer('wrong-key-of-nobody'))).status).toBe(401);
    expect((await call('GET', INFO, undefined, bearer('another-wrong-key'))).status).toBe(429);
    expect((await call('GET', INFO)).status).toBe(200);
  });

  it('names all parts, and the page', async () => {
    const page = { type: 'text/html', bytes: Buffer.from('x'), compressed: {}, hash: 'x', isHashed: false };
    const studio: Studio = { page, files: new Map() };
    const some = { openKnowledge: async () => ({}) as never, databaseProbe: { kinds: [], probe: async () => {} } };
    const services = {
      mcp: { ids: () => [], find: () => undefined, forTenant: () => services.mcp },
      code: {},
      browsers: {},
    };
    const { call } = await startServer({
      ...some,
      services,
      studio,
      env: { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' },
    });
    const { data } = (await call('GET', INFO)).body;
    expect(data.studio).toBe(true);
    expect(data.parts).toEqual(['agents', 'runs', 'datasets', 'chat', 'models', 'mcp', 'code', 'browser', 'databases']);
  });
});
