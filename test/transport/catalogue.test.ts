import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeComponent } from '../../src/components/catalogue.js';
import { components } from '../../src/components/index.js';
import type { CatalogueEntry } from '../../src/transport/components/catalogue-shapes.js';
import { startServer } from './support/server.js';

describe('GET /components', () => {
  it('describes every node type of the server from its declaration, those of tests too', async () => {
    const { call } = await startServer();
    const { data } = (await call('GET', '/api/v1/components')).body as { data: CatalogueEntry[] };
    const byName = new Map(data.map((entry) => [entry.name, entry]));
    expect(byName.size).toBe(data.length);
    for (const { type, summary, group, hasBody, outputs } of components.map(describeComponent)) {
      expect(byName.get(type)).toMatchObject({ summary, group, has_body: hasBody, outputs, canvas: 'agent' });
    }
    expect(byName.get('Probe')).toMatchObject({ group: 'other', canvas: 'agent' });
    expect(byName.get('Parser')).toMatchObject({ group: 'ingestion', canvas: 'pipeline' });
    expect(byName.get('Loop')).toMatchObject({ has_body: true, body_start: 'LoopItem', is_entry: false });
    expect(byName.get('Switch')).toMatchObject({ chooses_targets: true, has_body: false, body_start: null });
    expect(byName.get('Message')).toMatchObject({ speaks: true, asks: false });
  });

  it('gives parameters as JSON Schemas by which documents can be checked', async () => {
    const { call } = await startServer();
    const { data } = (await call('GET', '/api/v1/components')).body as { data: CatalogueEntry[] };
    for (const { name, parameters } of data) expect(z.fromJSONSchema(parameters as never), name).toBeDefined();
    const parameters = data.find(({ name }) => name === 'Switch')?.parameters ?? {};
    expect(parameters).not.toHaveProperty('$schema');
    const schema = z.fromJSONSchema(parameters as never);
    const items = [{ cpn_id: 'begin@x', operator: '=', value: '1' }];
    const fine = { conditions: [{ logical_operator: 'and', items, to: ['A'] }], end_cpn_ids: ['B'] };
    expect(schema.safeParse(fine).success).toBe(true);
    expect(schema.safeParse({ ...fine, conditions: 'none' }).success).toBe(false);
  });

  it('needs a key', async () => {
    const { call } = await startServer({ env: { RUNNEL_API_KEYS: 'the-only-key-here' } });
    expect((await call('GET', '/api/v1/components')).status).toBe(401);
  });
});
