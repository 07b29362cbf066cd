import { describe, expect, it } from 'vitest';
import { ACME, OTHER, startDatasets } from './support/dataset-server.js';

const GRAPH = {
  nodes: [
    { id: 'v', name: 'Vega', type: 'engine' },
    { id: 'o', name: 'Orion' },
  ],
  edges: [{ source: 'v', target: 'o', relation: 'replaces' }],
};

async function startOwn() {
  const server = await startDatasets();
  const id = await server.dataset();
  await server.ingest(id, 'Orion.md', 'Orion uses Kafka.');
  const path = `/api/v1/datasets/${id}/graph`;
  const send = async (body: string, type: string, query = '', key = ACME) => {
    const init = { method: 'PUT', body, headers: { ...key, 'content-type': type } };
    return (await fetch(`${server.url}${path}${query}`, init)).json();
  };
  const get = (query = '', key = ACME) => fetch(`${server.url}${path}/export${query}`, { headers: key });
  return { ...server, id, send, get };
}

describe('the own graph of a dataset', () => {
  it('is put in three forms, exported as files of their types, and put again', async () => {
    const { send, get, ask, id } = await startOwn();
    expect(await send(JSON.stringify(GRAPH), 'application/json; charset=utf-8')).toMatchObject({
      code: 0,
      data: { nodes: 2, edges: 1, chunks: 0 },
    });
    const first = await (await get()).text();
    for (const [form, type] of [
      ['graphml', 'application/graphml+xml'],
      ['gexf', 'application/gexf+xml'],
      ['graphml', 'text/xml'],
      ['gexf', 'application/xml'],
      ['json', 'application/json'],
    ] as const) {
      const answer = await get(`?format=${form}`);
      expect(answer.headers.get('content-disposition')).toContain(`graph-${id}.${form}`);
      const text = await answer.text();
      expect(await send(text, type), type).toMatchObject({ code: 0 });
      expect(await send(text, 'text/plain', `?format=${form}`), form).toMatchObject({ code: 0 });
      expect(await (await get()).text(), type).toBe(first);
    }
    expect((await get('?format=gexf')).headers.get('content-type')).toContain('application/gexf+xml');
    const { data } = await ask('POST', `/datasets/${id}/graph/search`, { question: 'What is Vega?' });
    expect(data.entities).toMatchObject([{ name: 'Vega', type: 'engine' }]);
    expect(await ask('DELETE', `/datasets/${id}/graph`)).toMatchObject({ data: true });
    expect(await (await get()).json()).toMatchObject({ code: 102 });
  });

  it.each<[string, string, string, string, string]>([
    ['of an unknown type', '{}', 'text/plain', '', 'A graph has one of the types application/json'],
    ['of XML of another kind', '<svg/>', 'text/xml', '', 'A graph has one of the types application/json'],
    ['of an unknown format', '{}', 'application/json', '?format=csv', 'must be one of json, graphml, gexf'],
    ['with a problem', '{"nodes":[{}]}', 'application/json', '', 'nodes[0]: id: it is missing'],
    ['with an entity', '<!DOCTYPE gexf [<!ENTITY a "b">]><gexf>&a;</gexf>', 'text/xml', '', 'document type'],
  ])('is refused when it is %s', async (_, body, type, query, why) => {
    const { send } = await startOwn();
    expect(await send(body, type, query)).toMatchObject({ code: 101, message: expect.stringContaining(why) });
  });

  it('has at most 16 MiB, is UTF-8, and is none of another tenant', async () => {
    const { send, get, url, id } = await startOwn();
    const large = `{"nodes":[]${' '.repeat(16 * 1_048_576)}}`;
    expect(await send(large, 'application/json')).toMatchObject({
      code: 101,
      message: expect.stringContaining('16777216'),
    });
    const init = {
      method: 'PUT',
      body: new Uint8Array([0x7b, 0xff]),
      headers: { ...ACME, 'content-type': 'application/json' },
    };
    expect(await (await fetch(`${url}/api/v1/datasets/${id}/graph`, init)).json()).toMatchObject({
      message: expect.stringContaining('UTF-8'),
    });
    expect(await send(JSON.stringify(GRAPH), 'application/json', '', OTHER)).toMatchObject({ code: 102 });
    expect(await (await get('', OTHER)).json()).toMatchObject({ code: 102 });
    expect(await (await get('?layers=rule')).json()).toMatchObject({ code: 101 });
  });
});
