import { describe, expect, it } from 'vitest';
import { API_PREFIX, createApi } from '../../src/transport/app.js';
import { describeApi } from '../../src/transport/openapi.js';
import { createContractClient } from './support/contract-client.js';
import { createDescribedAnswers } from './support/described-answers.js';
import { ECHO } from './support/documents.js';
import { routeTable } from './support/route-table.js';
import { startServer } from './support/server.js';

// biome-ignore lint/suspicious/noExplicitAny: tests look into documents freely
type Loose = any;

const description: Loose = describeApi(API_PREFIX, createApi());

const described = Object.entries<object>(description.paths).flatMap(([path, operations]) =>
  Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
);
const routed = routeTable().map(({ method, path }) => `${method} ${path.replace(/:([a-z]+)/g, '{$1}')}`);

describe('the description of the API', () => {
  it('has every route of the routers, and no other', () => {
    expect(routed.length).toBeGreaterThan(60);
    expect(new Set(routed).size).toBe(routed.length);
    expect(described.toSorted()).toEqual(routed.toSorted());
  });

  it('names each operation once, and every parameter of its path', () => {
    const ids = new Set<string>();
    for (const [path, operations] of Object.entries<Record<string, Loose>>(description.paths)) {
      for (const { operationId, parameters = [], summary, tags } of Object.values(operations)) {
        expect(ids.has(operationId), operationId).toBe(false);
        ids.add(operationId);
        const names = parameters
          .filter((parameter: Loose) => parameter.in === 'path')
          .map(({ name }: Loose) => `{${name}}`);
        expect(names).toEqual(path.match(/\{[a-z]+\}/g) ?? []);
        expect(summary).not.toBe('');
        expect(description.tags.map(({ name }: Loose) => name)).toContain(tags[0]);
      }
    }
  });

  it('has what linters of such documents ask for', () => {
    expect(description).toMatchObject({ servers: [{ url: '/' }], info: { license: { identifier: 'Apache-2.0' } } });
    for (const [path, operations] of Object.entries<Record<string, Loose>>(description.paths)) {
      for (const [method, { responses }] of Object.entries(operations)) {
        const refusals = Object.keys(responses).filter((status) => status.startsWith('4'));
        expect(refusals, `${method} ${path}`).not.toEqual([]);
      }
    }
  });

  it('shows what requests are read with', () => {
    const body = (path: string, method: string) =>
      description.paths[`${API_PREFIX}${path}`][method].requestBody.content['application/json'].schema.properties;
    expect(body('/agents', 'post').permission).toMatchObject({ enum: ['me', 'team', null] });
    expect(body('/agents/{id}/versions', 'post')).toHaveProperty('dsl');
    expect(body('/agents/{id}/components/{component}/debug', 'post').params).toMatchObject({ type: 'object' });
    expect(body('/admin/canvas-runtime/{tenant}', 'post')).toHaveProperty('runtime');
  });

  it('says so where an answer has several forms', async () => {
    const { url } = await startServer();
    const described = createDescribedAnswers(JSON.parse(JSON.stringify(description)));
    const client = createContractClient({ url, look: described.look });
    const { id } = await client.create('Forms', ECHO);
    const session = await client.createSession(id, { user_id: 'u' });
    const filesNamed = (...names: string[]) => {
      const form = new FormData();
      for (const name of names) form.append('file', new Blob([JSON.stringify(ECHO)]), name);
      return form;
    };
    const statuses = [
      await client.send('GET', `${API_PREFIX}/agents?type=filter`),
      await client.send('GET', `${API_PREFIX}/agents/${id}/sessions?exp_user_id=u`),
      await client.send('DELETE', `${API_PREFIX}/agents/${id}/sessions`, { ids: [session.id, 'none'] }),
      await client.send('GET', `${API_PREFIX}/agents/${id}/logs/none`),
      await client.send('POST', `${API_PREFIX}/agents/${id}/upload`, filesNamed('a.txt', 'b.txt')),
      await client.send('POST', `${API_PREFIX}/agents/import`, filesNamed('one.json')),
      await client.send('POST', `${API_PREFIX}/agents/import`, filesNamed('two.json', 'three.json')),
      await client.send('GET', `${API_PREFIX}/agents/${id}/export`),
      await client.send('POST', `${API_PREFIX}/agentbots/${id}/completions`, { query: 'x', stream: false }),
    ].map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect([...described.problems]).toEqual([]);
  });

  it('is given to anybody who asks', async () => {
    const { call } = await startServer({ env: { RUNNEL_API_KEYS: 'the-only-key-here' } });
    const answer = await call('GET', `${API_PREFIX}/openapi.json`);
    expect(answer.body).toEqual(JSON.parse(JSON.stringify(description)));
    expect(answer.body.openapi).toBe('3.1.0');
  });
});
