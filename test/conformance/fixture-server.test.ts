import { afterEach, describe, expect, it } from 'vitest';
import type { Exchange } from './case.js';
import { type FixtureServer, startFixtureServer } from './fixture-server.js';

let server: FixtureServer | undefined;

async function serve(...exchanges: Exchange[]): Promise<string> {
  server = await startFixtureServer(exchanges);
  return server.origin;
}

afterEach(() => server?.close());

describe('the fixture server', () => {
  it('answers a text as text and anything else as compact JSON', async () => {
    const origin = await serve(
      { method: 'GET', path: '/text', status: 302, headers: { location: '/x' }, body: 'moved' },
      { method: 'GET', path: '/json', body: { b: [1, 'é'], a: null } },
    );
    const text = await fetch(`${origin}/text?q=1`, { redirect: 'manual' });
    expect([text.status, text.headers.get('location'), await text.text()]).toEqual([302, '/x', 'moved']);
    expect(text.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const json = await fetch(`${origin}/json`);
    expect(json.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await json.text()).toBe('{"b":[1,"é"],"a":null}');
  });

  it('answers what it does not know with 404', async () => {
    const origin = await serve({ method: 'GET', path: '/known', body: 'x' });
    for (const [method, path] of [
      ['GET', '/other'],
      ['POST', '/known'],
    ]) {
      const response = await fetch(`${origin}${path}`, { method: method ?? '' });
      expect([response.status, await response.text()]).toEqual([404, 'no fixture']);
    }
  });

  it('goes on to the next answer when one is used up', async () => {
    const origin = await serve(
      { method: 'GET', path: '/', body: 'once', times: 1 },
      { method: 'GET', path: '/', body: 'then' },
    );
    const texts = [];
    for (let at = 0; at < 3; at += 1) texts.push(await (await fetch(origin)).text());
    expect(texts).toEqual(['once', 'then', 'then']);
  });

  it('echoes what arrived, with sorted keys', async () => {
    const origin = await serve({ method: 'POST', path: '/e', status: 500, echo: true });
    const json = await fetch(`${origin}/e?z=1&a=%26`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'X-B': '2', Authorization: 'Bearer k' },
      body: '{"z": {"y": 1, "x": "é"}, "a": [2]}',
    });
    expect([json.status, await json.text()]).toEqual([
      200,
      '{"form":null,"headers":{"authorization":"Bearer k","x-b":"2"},"json":{"a":[2],"z":{"x":"é","y":1}},"method":"POST","path":"/e","query":{"a":"&","z":"1"}}',
    ]);
    const form = await fetch(`${origin}/e`, { method: 'POST', body: new URLSearchParams({ b: 'ü', a: '1&2' }) });
    expect(await form.json()).toMatchObject({ form: { a: '1&2', b: 'ü' }, json: null });
  });

  it('closes while an answer is still delayed', async () => {
    const origin = await serve({ method: 'GET', path: '/slow', body: 'late', delay_ms: 60_000 });
    const answer = fetch(`${origin}/slow`).then(
      () => 'answered',
      () => 'cut off',
    );
    await fetch(`${origin}/other`);
    await server?.close();
    server = undefined;
    expect(await answer).toBe('cut off');
  });
});
