/** What the address of the list of runs means. */
import { describe, expect, it } from 'vitest';
import type { Client } from '../../web/api/client.js';
import { isNarrowed, listRuns, NO_FILTER, readFilter } from '../../web/runs/run-list.js';

const filterOf = (query: string) => readFilter(new URLSearchParams(query));

/** The query of the request that lists what an address asks for. */
async function asked(query: string): Promise<object> {
  const queries: object[] = [];
  const page = async (_: string, options: { query: object }) => {
    queries.push(options.query);
    return { items: [], total: 0 };
  };
  await listRuns({ page } as unknown as Client, filterOf(query), new AbortController().signal);
  return JSON.parse(JSON.stringify(queries[0]));
}

describe('the filter of runs', () => {
  it('is in the address, and asked of the server', async () => {
    const query = 'agent=a&status=failed&version=draft&user=me&from=2026-11-01&to=2026-11-02&min=0.5&max=60&page=2';
    expect(await asked(query)).toEqual({
      page: 2,
      page_size: 50,
      agent_id: 'a',
      status: 'failed',
      version: 'draft',
      user_id: 'me',
      from_date: new Date(2026, 10, 1).toISOString(),
      to_date: new Date(2026, 10, 2, 23, 59, 59, 999).toISOString(),
      min_seconds: '0.5',
      max_seconds: '60',
    });
  });

  it('keeps later pages to what had begun when the first one was listed', async () => {
    expect(await asked('page=2&upto=1000')).toMatchObject({ to_date: new Date(1_000).toISOString() });
    expect(await asked('page=2&upto=1000&to=1969-12-30')).toMatchObject({
      to_date: expect.stringMatching(/^1969-12-3/),
    });
    expect(await asked('upto=1000')).toEqual({ page: 1, page_size: 50 });
  });

  it.each([
    'status=done',
    'period=century',
    'from=2026-13-01',
    'from=yesterday',
    'to=2026-11-01T00:00',
    'min=-1',
    'min=long',
    'max=1e300',
    'max=',
    'page=0',
    'page=1.5',
    'upto=1e17',
    'upto=-1',
  ])('passes over what it does not know: %s', async (query) => {
    expect(filterOf(query)).toEqual({ ...NO_FILTER, page: 1, upto: undefined });
    expect(isNarrowed(filterOf(query))).toBe(false);
    expect(await asked(query)).toEqual({ page: 1, page_size: 50 });
  });

  it.each(Object.keys(NO_FILTER))('narrows the list by %s', (name) => {
    const values: Readonly<Record<string, string>> = {
      status: 'failed',
      period: 'day',
      from: '2026-11-01',
      to: '2026-11-01',
    };
    expect(isNarrowed(filterOf(`${name}=${values[name] ?? '1'}`))).toBe(true);
  });
});
