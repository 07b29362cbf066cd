import { merge, mergeMap, NEVER, type Observable } from 'rxjs';
import { describe, it } from 'vitest';
import { type CachedList, McpConnection } from '../../../src/adapters/mcp/mcp-connection.js';
import type { McpSession } from '../../../src/adapters/mcp/open-session.js';
import { Newest } from '../../../src/newest.js';
import { shareByKey } from '../../../src/operators/share-by-key.js';
import { marbles } from '../../support/scheduler.js';

/** Connections of runs, whose sessions are opened by subscribing to `open$`. */
const sharing = (open$: Observable<McpSession>, lists = new Newest<CachedList>({ maxCount: 8 })) =>
  shareByKey({
    keyOf: (run: string) => run,
    open: () =>
      new McpConnection({
        server: 's',
        timeoutSeconds: 10,
        secrets: [],
        open: () => open$,
        lists,
        listKey: 's',
        now: () => 0,
      }),
  });

const call = { name: 't', args: {}, trace: {}, files: undefined };

describe('the session of a run', () => {
  it('is opened by the first call, shared by the next, and closed behind the last user', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const open$ = cold<McpSession>('--------------');
      const openSubs = '              -----^-----!';
      const use = sharing(open$);
      // Uses the server from 1 to 9, and calls at 5.
      const one$ = use('run', (connection) => merge(NEVER, cold('----c').pipe(callWith(connection))));
      // Uses the server from 3 to 11, and calls at 7.
      const two$ = use('run', (connection) => merge(NEVER, cold('----c').pipe(callWith(connection))));

      expectObservable(one$, '-^-------!').toBe('   ----------');
      expectObservable(two$, '---^-------!').toBe(' ------------');
      expectSubscriptions(open$.subscriptions).toBe(openSubs);
    }));

  it('is never opened for users who ask nothing', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const open$ = cold<McpSession>('---');

      expectObservable(sharing(open$)('run', () => cold('--a|'))).toBe('--a|');
      expectSubscriptions(open$.subscriptions).toBe([]);
    }));

  it('is not opened for a list that is known', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const open$ = cold<McpSession>('---');
      const lists = new Newest<CachedList>({ maxCount: 8 });
      lists.put('s', { tools: [], until: 1 });

      expectObservable(sharing(open$, lists)('run', (connection) => connection.tools())).toBe('(a|)', { a: [] });
      expectSubscriptions(open$.subscriptions).toBe([]);
    }));

  it('that cannot be opened is tried again by the next call', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const open$ = cold<McpSession>('--#', undefined, new Error('closed for today'));
      const use = sharing(open$);
      const failure = new Error('Tool "t" of MCP server "s" failed: closed for today');
      Object.assign(failure, { name: 'EngineError', code: 'TOOL_FAILED' });
      const twice$ = use('run', (connection) => connection.call(call));

      expectObservable(twice$, '^').toBe('     --#', undefined, failure);
      expectObservable(twice$, '-----^').toBe('-------#', undefined, failure);
      expectSubscriptions(open$.subscriptions).toBe(['^-!', '-----^-!']);
    }));

  it('of one run is none of another', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const open$ = cold<McpSession>('------');
      const use = sharing(open$);

      expectObservable(
        use('a', (connection) => connection.call(call)),
        '^---!',
      ).toBe('-----');
      expectObservable(
        use('b', (connection) => connection.call(call)),
        '-^---!',
      ).toBe('------');
      expectSubscriptions(open$.subscriptions).toBe(['^---!', '-^---!']);
    }));
});

function callWith(connection: McpConnection) {
  return (source: Observable<string>): Observable<unknown> => source.pipe(mergeMap(() => connection.call(call)));
}
