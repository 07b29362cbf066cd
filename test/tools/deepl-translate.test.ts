import { EMPTY } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { EgressRequest } from '../../src/adapters/egress/egress-client.js';
import { deeplTranslate } from '../../src/tools/deepl-translate.js';
import { callOf, errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const routes: Routes = {
  'POST /v2/translate': { json: { translations: [{ detected_source_language: 'ZH', text: 'Hello, world' }] } },
};
const calling = { args: { query: '你好，世界' }, params: { auth_key: 'deepl-secret' } };

itBehavesAsUpstreamTool({ tool: deeplTranslate, calling, routes, attempts: 3 });

describe('deepl_translate', () => {
  it('sends the text and its languages, and the key in a header alone', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(deeplTranslate, upstream.origin, {
      ...calling,
      params: { auth_key: 'deepl-secret', source_lang: 'ZH', target_lang: 'EN-US' },
    });
    expect(upstream.asked[0]?.headers.authorization).toBe('DeepL-Auth-Key deepl-secret');
    expect(Object.fromEntries(new URLSearchParams(upstream.asked[0]?.body))).toEqual({
      text: '你好，世界',
      source_lang: 'ZH',
      target_lang: 'EN-US',
    });
    expect(found).toEqual({ type: 'result', text: 'Hello, world', outputs: { formalized_content: 'Hello, world' } });
  });

  it.each([
    ['abc:fx', 'https://api-free.deepl.com/v2/translate'],
    ['abc', 'https://api.deepl.com/v2/translate'],
  ])('knows by the key "%s" where to ask', (auth_key, url) => {
    const asked: string[] = [];
    const http = {
      fetch: (request: EgressRequest) => {
        asked.push(request.url);
        return EMPTY;
      },
      connect: () => EMPTY,
      close: () => {},
    };
    const call = callOf(deeplTranslate, '', { params: { auth_key }, services: { http, tools: {} } });
    deeplTranslate.call({ query: 'x' }, call).subscribe();
    expect(asked).toEqual([url]);
  });

  it.each([
    ['nothing', { params: {} }],
    ['what stands there in place of a key', { params: { auth_key: 'xxx' } }],
  ])('takes its key from the environment where the document has %s', async (_, { params }) => {
    const upstream = await startUpstream(routes);
    const environment = { DEEPL_AUTH_KEY: 'from-env' };
    await resultOf(deeplTranslate, upstream.origin, { args: { query: 'x' }, params, environment });
    expect(upstream.asked[0]?.headers.authorization).toBe('DeepL-Auth-Key from-env');
    const error = await errorOf(deeplTranslate, upstream.origin, { args: { query: 'x' }, params });
    expect(error.message).toBe(
      'DeepL error: there is no key; set "auth_key" or the environment variable DEEPL_AUTH_KEY',
    );
  });

  it.each([
    [403, {}, 'DeepL does not accept the key (status 403)'],
    [456, {}, 'the quota of the key is used up (status 456)'],
    [
      400,
      { json: { message: "Value for 'target_lang' not supported: deepl-secret" } },
      "the service answered with status 400: Value for 'target_lang' not supported: [REDACTED]",
    ],
    [200, { json: { translations: [] } }, 'the answer holds no translation'],
  ])('explains a refusal with status %s', async (status, reply, message) => {
    const upstream = await startUpstream({ 'POST /v2/translate': { status, ...reply } });
    const error = await errorOf(deeplTranslate, upstream.origin, calling);
    expect(error.message).toBe(`DeepL error: ${message}`);
    expect(upstream.asked).toHaveLength(1);
  });

  it('has nothing to translate in nothing', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(deeplTranslate, upstream.origin, { ...calling, args: { query: '\n' } });
    expect(found.outputs).toEqual({ formalized_content: '' });
    expect(upstream.asked).toEqual([]);
  });
});
