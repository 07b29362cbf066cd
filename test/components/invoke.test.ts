import { lastValueFrom, NEVER, type Observable, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  createEgressClient,
  type EgressClient,
  type EgressRequest,
  type EgressResponse,
} from '../../src/adapters/egress/egress-client.js';
import { invoke } from '../../src/components/invoke.js';
import type { NodeEvent } from '../../src/graph/node-events.js';
import type { Json, JsonObject } from '../../src/json.js';
import { passThrough } from '../../src/trace-context.js';
import { serve } from '../adapters/egress/support/servers.js';
import { activationOf, nodeOf, outputsOf, runAtOnce, type Surroundings, warningsOf } from './text-activation.js';

/** A client that keeps what it is asked and gives one answer. */
function answering(answer: Partial<EgressResponse> & { readonly body?: string } = {}) {
  const { body = 'answer', contentType = 'text/plain', ...rest } = answer;
  const asked: EgressRequest[] = [];
  const response: EgressResponse = {
    status: 200,
    headers: { 'content-type': contentType },
    contentType,
    url: 'http://server.example/',
    bytes: Buffer.from(body),
    text: () => body,
    ...rest,
  };
  const http: EgressClient = {
    fetch: (request) => {
      asked.push(request);
      return of(response);
    },
    connect: () => NEVER,
    close: () => {},
  };
  return { http, asked };
}

const AROUND: Surroundings = {
  outputs: {
    a: {
      text: 'ä b',
      n: 3,
      list: [1, 'x'],
      object: { k: [true] },
      json: '{"id": 7}',
      gone: null,
      lines: 'a\r\nX-Evil: 1',
    },
    late: null,
  },
  variables: { 'sys.query': 'cats & dogs', 'env.key': 'k"9' },
};

function requestOf(params: JsonObject, services: object = {}): EgressRequest {
  const { http, asked } = answering();
  runAtOnce(invoke, { url: 'server.example', ...params }, { ...AROUND, services: { http, ...services } });
  expect(asked).toHaveLength(1);
  return asked[0] as EgressRequest;
}

/** Its headers but for the key that every request has. */
function headersOf(params: JsonObject): object {
  const { 'idempotency-key': _, ...headers } = requestOf(params).headers ?? {};
  return headers;
}

describe('the URL', () => {
  it.each([
    ['http://server.example/x', 'http://server.example/x'],
    ['  https://server.example  ', 'https://server.example'],
    ['server.example:8080/x', 'http://server.example:8080/x'],
    ['HTTPS://server.example', 'HTTPS://server.example'],
    ['http://server.example/{a@n}/{a@json.id}?q={sys.query}', 'http://server.example/3/7?q=cats & dogs'],
    ['http://server.example/{a@lines}', 'http://server.example/a%0D%0AX-Evil: 1'],
    ['{a@text}', 'http://ä b'],
    ['ftp://server.example', 'ftp://server.example'],
  ])('%s becomes %s', (url, sent) => {
    expect(requestOf({ url }).url).toBe(sent);
  });

  it.each([
    ['http://h', 'http://h?q=1'],
    ['http://h/?', 'http://h/?q=1'],
    ['http://h/?a=%20b+c', 'http://h/?a=%20b+c&q=1'],
    ['http://h/?a&', 'http://h/?a&q=1'],
    ['http://h/#part', 'http://h/?q=1'],
  ])('%s takes a query', (url, sent) => {
    expect(requestOf({ url, variables: [{ key: 'q', value: '1' }] }).url).toBe(sent);
  });
});

describe('arguments', () => {
  it.each<[string, JsonObject, string, string]>([
    ['a text', { value: 'x' }, '"x"', 'v=x'],
    ['nothing', {}, '""', 'v='],
    ['null', { value: null }, '""', 'v='],
    ['a number in a text', { value: '12' }, '12', 'v=12'],
    [
      'a number that no double can hold',
      { value: ' 12345678901234567890 ' },
      '12345678901234567890',
      'v=+12345678901234567890+',
    ],
    ['JSON in a text', { value: '{"k": [1]}' }, '{"k": [1]}', 'v=%7B%22k%22%3A+%5B1%5D%7D'],
    ['what is nearly JSON', { value: "{'k': 1}" }, '"{\'k\': 1}"', 'v=%7B%27k%27%3A+1%7D'],
    ['a fixed object', { value: { k: 1 } }, '{"k":1}', 'v=%7B%22k%22%3A+1%7D'],
    ['a reference in a text', { value: '<{sys.query}>' }, '"<cats & dogs>"', 'v=%3Ccats+%26+dogs%3E'],
    ['a reference to a text', { ref: 'a@text' }, '"ä b"', 'v=%C3%A4+b'],
    ['a reference to a number', { ref: '{a@n}' }, '3', 'v=3'],
    ['a reference to a list', { ref: 'a@list' }, '[1,"x"]', 'v=1&v=x'],
    ['a reference to an object', { ref: 'a@object' }, '{"k":[true]}', 'v=%7B%22k%22%3A+%5Btrue%5D%7D'],
    ['a path', { ref: 'a@json.id' }, '7', 'v=7'],
    ['a reference to null', { ref: 'a@gone' }, '""', 'v='],
    ['a value for null', { ref: 'a@gone', value: 'x' }, '"x"', 'v=x'],
    ['an output that its node does not give', { ref: 'a@none', value: 'x' }, '""', 'v='],
    ['a reference before a value', { ref: 'a@n', value: 'x' }, '3', 'v=3'],
    ['a value for what has none yet', { ref: 'late@x', value: 'x' }, '"x"', 'v=x'],
    ['a value for what does not exist', { ref: 'nobody@x', value: 'x' }, '"x"', 'v=x'],
  ])('%s', (_what, variable, json, form) => {
    const variables = [{ key: 'v', ...variable }];

    expect(requestOf({ method: 'post', variables }).body).toBe(`{"v":${json}}`);
    expect(requestOf({ method: 'post', datatype: 'formdata', variables }).body).toBe(form);
    expect(requestOf({ variables }).url).toBe(`http://server.example?${form}`);
  });

  it('keep their order; one without a name is left out, the last of a name counts', () => {
    const variables = [
      { key: 'z', value: '1' },
      { key: '', value: '2' },
      { key: '__proto__', value: '3' },
      { key: 'z', value: '4' },
    ];

    expect(requestOf({ method: 'PUT', variables }).body).toBe('{"z":4,"__proto__":3}');
  });

  it('of nodes that do not exist fail the node', () => {
    const { http } = answering();
    const params = { url: 'http://h', variables: [{ key: 'v', ref: 'nobody@x' }] };

    expect(() => runAtOnce(invoke, params, { ...AROUND, services: { http } })).toThrow(/no node "nobody"/);
  });

  it('that name nothing are empty, with a warning', () => {
    const { http, asked } = answering();
    const params = { url: 'http://h', variables: [{ key: 'v', ref: 'a@typo' }] };

    const events = runAtOnce(invoke, params, { ...AROUND, services: { http } });

    expect(asked[0]?.url).toBe('http://h?v=');
    expect(warningsOf(events)).toEqual(['"a@typo" names no value; it reads as empty text.']);
  });
});

describe('the method', () => {
  it.each<[Json, string, string | undefined]>([
    ['get', 'GET', undefined],
    ['', 'GET', undefined],
    [null, 'GET', undefined],
    ['Head', 'HEAD', undefined],
    ['POST', 'POST', '{}'],
    [' put ', 'PUT', '{}'],
    ['patch', 'PATCH', '{}'],
    ['delete', 'DELETE', undefined],
  ])('%j without arguments', (method, sent, body) => {
    expect(requestOf({ method })).toMatchObject({ method: sent });
    expect(requestOf({ method }).body).toBe(body);
  });

  it('sends the arguments of DELETE as body, and an empty form as nothing', () => {
    expect(requestOf({ method: 'delete', variables: [{ key: 'v', value: 'x' }] }).body).toBe('{"v":"x"}');
    expect(requestOf({ method: 'post', datatype: 'formdata' }).body).toBeUndefined();
  });
});

describe('headers', () => {
  it.each<[string, Json, Record<string, string>]>([
    ['none', '', {}],
    ['null', null, {}],
    ['a text', '{"X-A": "1"}', { 'X-A': '1' }],
    ['an object', { 'X-A': '1' }, { 'X-A': '1' }],
    ['references', '{"X-A": "t-{a@text}", "X-B": "{env.key}"}', { 'X-A': 't-ä b', 'X-B': 'k"9' }],
    ['a value with line ends, which the client refuses', '{"X-A": "{a@lines}"}', { 'X-A': 'a\r\nX-Evil: 1' }],
    [
      'what is no text',
      '{"X-A": 1, "X-B": true, "X-C": null, "X-D": [1, 2]}',
      { 'X-A': '1', 'X-B': 'true', 'X-D': '[1, 2]' },
    ],
  ])('from %s', (_what, headers, sent) => {
    expect(headersOf({ headers })).toEqual(sent);
  });

  it.each(['not json', '[1]', '"text"', '12', [1]] as Json[])('must be an object, not %j', (headers) => {
    expect(() => requestOf({ headers })).toThrow(/headers must be a JSON object/);
  });

  it('offer the token as a key by which a repeated request is known, unless the document has its own', () => {
    expect(requestOf({}).headers).toEqual({ 'idempotency-key': 'run/1' });
    const headers = { 'Idempotency-Key': '{a@n}' };
    expect(requestOf({ headers }).headers).toEqual({ 'Idempotency-Key': '3' });
  });

  it('say what the body is, unless the document does', () => {
    const variables = [{ key: 'v', value: 'x' }];
    const form = { method: 'post', datatype: 'formdata', variables };

    expect(headersOf({ method: 'post' })).toEqual({ 'content-type': 'application/json' });
    expect(headersOf(form)).toEqual({ 'content-type': 'application/x-www-form-urlencoded' });
    expect(headersOf({ ...form, headers: { 'Content-Type': 'text/x' } })).toEqual({ 'Content-Type': 'text/x' });
  });
});

describe('the request', () => {
  it('has its own time limit, and does not follow redirects', () => {
    expect(requestOf({ timeout: 7 })).toMatchObject({ timeoutMs: 7000, followRedirects: false });
    expect(requestOf({})).toMatchObject({ timeoutMs: 60_000 });
  });

  it.each([
    ['', undefined],
    ['http://', undefined],
    ['https:', undefined],
    [' http ', undefined],
    ['proxy.example:3128', 'http://proxy.example:3128'],
    ['https://{env.user}@proxy.example', 'https://@proxy.example'],
  ])('goes through the proxy "%s"', (proxy, sent) => {
    expect(requestOf({ proxy }).proxy).toBe(sent);
  });

  it('passes on the trace that the run belongs to', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

    expect(requestOf({}, { trace: passThrough({ traceparent, baggage: 'a=b' }) })).toMatchObject({
      traceparent,
      baggage: 'a=b',
    });
    expect(requestOf({}).traceparent).toBeUndefined();
  });

  it('needs a client', () => {
    expect(() => runAtOnce(invoke, { url: 'http://h' }, AROUND)).toThrow(/needs the service "http"/);
  });
});

describe('the answer', () => {
  it.each([
    ['its text alone', {}, { result: 'gone' }],
    ['its status', { result: {}, status: { type: 'number' } }, { result: 'gone', status: 404 }],
    ['its headers', { headers: {} }, { result: 'gone', headers: { 'content-type': 'text/plain' } }],
  ])('gives %s', (_what, declared, outputs) => {
    const { http } = answering({ status: 404, body: 'gone' });

    const events = runAtOnce(invoke, { url: 'http://h', outputs: declared }, { services: { http } });

    expect(outputsOf(events)).toEqual(outputs);
  });

  it.each([
    ['text/html; charset=utf-8', '# Head\n\nA & b.'],
    ['application/xhtml+xml', '# Head\n\nA & b.'],
    ['text/plain', '<h1>Head</h1><script>x()</script><!-- c --><p>A &amp; <b>b</b>.'],
  ])('of type %s is cleaned when it is a page', async (contentType, result) => {
    const body = '<h1>Head</h1><script>x()</script><!-- c --><p>A &amp; <b>b</b>.';
    const { http } = answering({ contentType, body });

    const events = await eventsOf({ url: 'http://h', clean_html: true }, { services: { http } });

    expect(outputsOf(events)).toEqual({ result });
  });

  it('that is nested without end is refused', async () => {
    const body = `<p>start</p>${'<i></x>'.repeat(100_000)}<p>end</p>`;
    const { http } = answering({ contentType: 'text/html', body });

    const cleaning = eventsOf({ url: 'http://h', clean_html: true }, { services: { http } });

    await expect(cleaning).rejects.toMatchObject({ name: 'EngineError', message: expect.stringContaining('nested') });
  });

  it('that is a large page is cut with a warning', async () => {
    const body = '<p>words</p>'.repeat(30_000);
    const { http } = answering({ contentType: 'text/html', body });

    const events = await eventsOf({ url: 'http://h', clean_html: true }, { services: { http } });

    expect(warningsOf(events)).toEqual(['The page was too large and was cut.']);
    expect(outputsOf(events).result).toBe(Array.from({ length: 25_000 }, () => 'words').join('\n\n'));
  });
});

describe('parameters', () => {
  it.each([
    ['no URL', { url: ' ' }],
    ['an unknown method', { url: 'http://h', method: 'trace' }],
    ['an unknown body', { url: 'http://h', datatype: 'xml' }],
    ['no time', { url: 'http://h', timeout: 0 }],
    ['a negative number of retries', { url: 'http://h', max_retries: -1 }],
  ])('with %s are refused', (_what, params) => {
    expect(invoke.params.safeParse(params).success).toBe(false);
  });

  it('say what must have run before', () => {
    const params = invoke.params.parse({
      url: 'http://h/{a@x.y}',
      headers: '{"X": "{b@x}"}',
      proxy: '{c@x}',
      variables: [
        { key: '1', ref: 'd@x' },
        { key: '2', ref: 'e@x', value: 'stands in' },
        { key: '3', value: '{f@x} {a@x}' },
        { key: '4', ref: 'sys.query' },
      ],
    });

    expect(invoke.needs?.(params)).toEqual(['a@x', 'c@x', 'b@x', 'f@x', 'd@x']);
  });
});

describe('with the real client', () => {
  it('sends what the document says and is not led astray by what values say', async () => {
    const { origin, asked } = await serve((_request, response) => response.end('ok'));
    const http = createEgressClient({ allowPrivateNetwork: true });

    const ok = await eventsOf({ url: `${origin}/x`, headers: '{"X-A": "1"}' }, { services: { http } });
    const headers = '{"X-A": "{a@lines}"}';
    const evil = eventsOf({ url: origin, headers, max_retries: 5 }, { ...AROUND, services: { http } });

    expect(outputsOf(ok)).toEqual({ result: 'ok' });
    await expect(evil).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    expect(asked).toEqual(['GET /x']);
  });

  it('does not reach inside', async () => {
    const { origin, asked } = await serve((_request, response) => response.end('secret'));
    const params = { url: origin, max_retries: 3, delay_after_error: 0 };

    const events = eventsOf(params, { services: { http: createEgressClient() } });

    await expect(events).rejects.toMatchObject({ code: 'URL_BLOCKED' });
    expect(asked).toEqual([]);
  });
});

function eventsOf(params: JsonObject, around: Surroundings): Promise<NodeEvent[]> {
  const events$ = nodeOf(invoke, params)(activationOf(around)) as Observable<NodeEvent>;
  return lastValueFrom(events$.pipe(toArray()));
}
