/** What upstreams say in their errors: each tool repeats the beginning of it, and never its key. */
import { describe, expect, it } from 'vitest';
import { createEgressClient } from '../../src/adapters/egress/egress-client.js';
import { quoteResponse } from '../../src/adapters/failures.js';
import type { Json, JsonObject } from '../../src/json.js';
import { tools } from '../../src/tools/index.js';
import { createRagflowRetriever } from '../../src/tools/ragflow-retriever.js';
import { serve } from '../adapters/egress/support/servers.js';
import { type Calling, errorOf } from './support/upstream.js';

const KEY = 'secret-key/0123456789';
const WORDS = `refused\u0007\n${KEY} https://api.example/?api_key=of-somebody-else&q=1 ${'x'.repeat(1_000_000)}`;

/** How a tool is called so that it asks, where its parameters hold its key, and how its service says in a 200 what is wrong. */
interface Row extends Pick<Calling, 'args' | 'params'> {
  readonly refusal?: Json | string;
}

const query = { query: 'rag' };
const ROWS: Readonly<Record<string, Row>> = {
  akshare_stock_news: { args: { query: '600519' }, refusal: { code: 5, msg: WORDS } },
  arxiv_search: {
    args: query,
    refusal: `<feed><entry><id>http://arxiv.org/api/errors#x</id><summary>${WORDS.replace('\u0007', '').replace('&', '&amp;')}</summary></entry></feed>`,
  },
  bgpt_search: { args: query, params: { api_key: KEY }, refusal: { error: WORDS } },
  currency: { args: { from: 'USD', to: 'CNY' } },
  deepl_translate: { args: query, params: { auth_key: KEY } },
  duckduckgo_search: { args: query },
  github_search: { args: query, refusal: { message: WORDS } },
  google_scholar_search: { args: query },
  google_search: { args: { q: 'rag' }, params: { api_key: KEY }, refusal: { error: WORDS } },
  iwencai: { args: query },
  jin10: { params: { secret_key: KEY }, refusal: { status: 400, message: WORDS } },
  keenable_search: { args: query, params: { api_key: KEY }, refusal: { error: WORDS } },
  pubmed_search: { args: query, refusal: { error: WORDS } },
  querit_contents: { args: { urls: 'https://a.example' }, params: { api_key: KEY } },
  querit_search: { args: query, params: { api_key: KEY } },
  qweather: { args: query, params: { web_apikey: KEY } },
  searxng_search: { args: query },
  tavily_extract: { args: { urls: 'https://a.example' }, params: { api_key: KEY } },
  tavily_search: { args: query, params: { api_key: KEY } },
  tushare: { args: query, params: { token: KEY }, refusal: { code: 40203, msg: WORDS } },
  weather: { args: { city: 'Beijing' } },
  web_crawler: { args: query },
  wikipedia_search: { args: query, refusal: { error: { code: 'badvalue', info: WORDS } } },
  yahoo_finance: {
    args: { stock_code: 'AAPL' },
    refusal: { chart: { result: null, error: { code: 'Not Found', description: WORDS } } },
  },
};

/** Tools that ask no service over HTTP, or not by themselves. */
const WITHOUT = [
  ...['email', 'execute_code', 'execute_sql', 'search_my_dateset'],
  ...['calculator', 'datetime', 'graph_search', 'knowledge_lookup', 'sales', 'system_metrics', 'ticket'],
];

const usedTools = tools.filter(({ name }) => !WITHOUT.includes(name));

/** Answers everything with one thing. */
async function answerAll(status: number, body: Json | string): Promise<string> {
  const isText = typeof body === 'string';
  const { origin } = await serve((_request, response) => {
    response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json' });
    response.end(isText ? body : JSON.stringify(body));
  });
  return origin;
}

function callingOf(name: string, origin: string): Calling {
  const row = ROWS[name] as Row;
  return name === 'web_crawler' ? { args: { query: `${origin}/` } } : row;
}

function expectWords(message: string, hasKey: boolean): void {
  expect(message.length).toBeLessThan(450);
  expect(message).toContain('refused ');
  expect(message).toMatch(hasKey ? /\[REDACTED\] https/ : /secret-key/);
  expect(message).toContain('api_key=REDACTED&q=1 xxx');
  expect(message).not.toMatch(/\p{Cc}/u);
  expect(message).not.toMatch(/of-somebody-else/);
  if (hasKey) expect(message).not.toMatch(/secret-key/);
}

const hasKey = ({ params }: Pick<Row, 'params'>): boolean => Object.values((params ?? {}) as JsonObject).includes(KEY);

it('has a row for every tool', () => {
  expect(Object.keys(ROWS).sort()).toEqual(usedTools.map(({ name }) => name).sort());
});

describe.each(usedTools.map((tool) => ({ name: tool.name, tool })))('$name shortens and redacts', ({ name, tool }) => {
  const row = ROWS[name] as Row;

  it.each([
    ['JSON', { message: WORDS }],
    ['JSON within JSON', { detail: { error: WORDS } }],
    ['plain text', WORDS],
  ])('what a refusal says in %s', async (_kind, body) => {
    const origin = await answerAll(422, body);
    expectWords((await errorOf(tool, origin, callingOf(name, origin))).message, hasKey(row));
  });

  it.runIf(row.refusal !== undefined)('what a refusal with status 200 says', async () => {
    const origin = await answerAll(200, row.refusal as Json);
    expectWords((await errorOf(tool, origin, row)).message, hasKey(row));
  });
});

it('a RAGFlow server that searches is treated alike', async () => {
  const baseUrl = await answerAll(200, { code: 102, message: WORDS });
  const http = createEgressClient({ allowPrivateNetwork: true });
  const search = createRagflowRetriever({ baseUrl, apiKey: KEY, http }).search(
    {
      question: 'rag',
      datasets: ['0'.repeat(32)],
      topN: 1,
      topK: 1,
      similarityThreshold: 0,
      keywordWeight: 0.5,
      rerankId: '',
      crossLanguages: [],
      useGraph: false,
      useContents: false,
      filter: {},
    },
    new AbortController().signal,
  );
  const error = await search.then(
    () => new Error('it was no refusal'),
    (thrown: Error) => thrown,
  );
  expectWords(error.message, true);
});

describe('words of a server', () => {
  it.each([
    ['a key that is cut in the middle', `${'a'.repeat(290)}${KEY}`, `${'a'.repeat(290)}[REDACTED]`],
    ['a key as URLs hold it', 'see ?q=secret-key%2F0123456789', 'see ?q=[REDACTED]'],
    ['lines and control characters', ' a\r\n\tb\u0000\u2028c\u0085 ', 'a b c'],
    ['half of a character', `${'a'.repeat(299)}😀`, 'a'.repeat(299)],
  ])('%s', (_what, text, expected) => {
    expect(quoteResponse(text, [KEY])).toBe(expected);
  });

  it('keeps what is too short to be a secret', () => {
    expect(quoteResponse('a cat', ['a', ''])).toBe('a cat');
  });
});
