import { lastValueFrom, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Databases } from '../../src/adapters/sql/databases.js';
import type { DatabaseAddress, Table } from '../../src/adapters/sql/session.js';
import { toolComponent } from '../../src/components/tool-component.js';
import type { NodeEvent } from '../../src/graph/node-events.js';
import { callTool } from '../../src/tools/call-tool.js';
import { exeSql } from '../../src/tools/exe-sql.js';
import { activationOf, nodeOf } from '../components/text-activation.js';
import { type Calling, callOf, errorOf, resultOf } from './support/upstream.js';

const params = { db_type: 'MySQL', host: 'db.example', database: 'shop', username: 'app', password: 'app-secret' };

type Answer = Partial<Table> | Error | Promise<Table>;

/** Databases of one kind, that answer in turn; `done` says how sessions ended. */
function fake(...answers: Answer[]) {
  const opened: DatabaseAddress[] = [];
  const asked: string[] = [];
  const done: string[] = [];
  const databases: Databases = {
    kinds: [],
    probe: async () => {},
    async open(address) {
      opened.push(address);
      return {
        dialect: 'mysql',
        isAlive: true,
        async query(sql) {
          asked.push(sql);
          const answer = answers.shift() ?? {};
          if (answer instanceof Error) throw answer;
          return { columns: [], rows: [], isCut: false, ...(await answer) };
        },
        close: async () => void done.push('closed'),
        abandon: () => void done.push('abandoned'),
      };
    },
  };
  return { databases, opened, asked, done };
}

const calling = (sql: string, databases: Databases, more: object = {}): Calling => ({
  args: { sql },
  params: { ...params, ...more },
  services: { databases },
});

describe('execute_sql', () => {
  it('opens what the document names, once, and closes it', async () => {
    const { databases, opened, asked, done } = fake({ columns: ['a'], rows: [[1]] }, { columns: ['a'], rows: [[2]] });
    const found = await resultOf(exeSql, '', calling('SELECT 1; SELECT 2', databases, { port: '3307' }));
    expect(opened).toEqual([
      {
        kind: 'MySQL',
        host: 'db.example',
        port: 3307,
        database: 'shop',
        username: 'app',
        password: 'app-secret',
        tls: 'prefer',
      },
    ]);
    expect(asked).toEqual(['SELECT 1', 'SELECT 2']);
    expect(found.outputs.json).toEqual([[{ a: 1 }], [{ a: 2 }]]);
    expect(done).toEqual(['closed']);
  });

  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const comment = `/*traceparent='${traceparent}'*/`;

  it('says behind each statement where it belongs in a trace', async () => {
    const { databases, asked } = fake({}, new Error(`near 'x ${comment}' at line 1`), {}, {});
    const sql = "SELECT 1; SELECT x; SELECT 2 -- two\n; SELECT '#'";
    const call = {
      ...calling(sql, databases),
      trace: { traceparent, tracestate: 'v=1', baggage: 'b=*/ DROP TABLE t' },
    };
    const { outputs } = await resultOf(exeSql, '', call);
    expect(asked).toEqual([
      `SELECT 1 ${comment}`,
      `SELECT x ${comment}`,
      `SELECT 2 -- two\n${comment}`,
      `SELECT '#'\n${comment}`,
    ]);
    expect(JSON.stringify(outputs.json)).not.toContain('traceparent');
  });

  it('says so of a look at the schema as well', async () => {
    const { databases, asked } = fake({});
    await resultOf(exeSql, '', { ...calling('SCHEMA', databases), trace: { traceparent } });
    expect(asked).toEqual([expect.stringMatching(/ordinal_position \/\*traceparent='00-a{32}-b{16}-01'\*\/$/)]);
  });

  it('writes tables in Markdown, fractions with six digits', async () => {
    const { databases } = fake({
      columns: ['a', 'b|c'],
      rows: [
        [1, 9.5],
        [null, 'x\ny'],
        [true, { k: '|' }],
      ],
      isCut: true,
    });
    expect((await resultOf(exeSql, '', calling('SELECT 1', databases))).text).toBe(
      [
        '| a | b\\|c |',
        '| --- | --- |',
        '| 1 | 9.500000 |',
        '|  | x<br>y |',
        '| true | {"k":"\\|"} |',
        '',
        'These are the first 3 rows; there are more.',
      ].join('\n'),
    );
  });

  it('puts what failed, and what is empty, in the place of rows', async () => {
    const { databases } = fake(new Error('no such table, app-secret'), {}, { columns: ['a'], rows: [[1]] });
    const { outputs, text } = await resultOf(exeSql, '', calling('SELECT x; SELECT y; SELECT z', databases));
    expect(outputs.json).toEqual([
      { content: 'SQL Execution Failed: SELECT x\nno such table, [REDACTED]' },
      { content: 'No record in the database!' },
      [{ a: 1 }],
    ]);
    expect(text).toContain(
      'SQL Execution Failed: SELECT x\nno such table, [REDACTED]\n\nNo record in the database!\n\n| a |',
    );
  });

  it('says shortly, and without the password, why it cannot list tables', async () => {
    const { databases } = fake(new Error(`denied for app-secret\n${'x'.repeat(1_000_000)}`));
    const { message } = await errorOf(exeSql, '', calling('SCHEMA', databases));
    expect(message).toMatch(/^ExeSQL error: the tables could not be listed: denied for \[REDACTED\] x+$/);
    expect(message.length).toBeLessThan(2_200);
  });

  it.each([
    ['', {}, 'ExeSQL error: SQL for `ExeSQL` MUST not be empty.'],
    [' ; ', {}, 'ExeSQL error: SQL for `ExeSQL` MUST not be empty.'],
    [
      'SELECT 1; DROP TABLE t',
      {},
      'only SELECT statements are allowed; INSERT/UPDATE/DELETE/DDL is rejected for safety (found "DROP")',
    ],
    ['SELECT 1', { db_type: 'IBM DB2' }, 'databases of the kind "IBM DB2" are not supported; "db_type" may be mysql'],
    ['SELECT 1', { host: '', database: ' ' }, 'the database is not configured; set "host", "database"'],
    ['SELECT 1', { username: '' }, 'set "username"'],
  ])('refuses %j with %j before it connects', async (sql, more, message) => {
    const { databases, opened } = fake();
    expect(await errorOf(exeSql, '', calling(sql, databases, more))).toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringContaining(message),
    });
    expect(opened).toEqual([]);
  });

  it('abandons its session when nobody waits any more', async () => {
    const { databases, asked, done } = fake(new Promise<Table>(() => {}));
    const call = callOf(exeSql, '', calling('SELECT 1', databases));
    const subscription = callTool(exeSql, { sql: 'SELECT 1' }, call).subscribe();
    while (asked.length === 0) await new Promise(setImmediate);
    subscription.unsubscribe();
    expect(done).toEqual(['abandoned']);
  });

  it('runs nothing more when its time is over, and gives what there is', async () => {
    let now = 0;
    const { databases, asked } = fake({ columns: ['a'], rows: [[1]] });
    const call = { ...callOf(exeSql, '', calling('', databases)), now: () => (now += 20_000) };
    const last = await lastValueFrom(callTool(exeSql, { sql: 'SELECT 1; SELECT 2; SELECT 3; SELECT 4' }, call));
    expect(asked).toEqual(['SELECT 1', 'SELECT 2']);
    expect(last).toMatchObject({
      outputs: {
        json: [[{ a: 1 }], expect.anything(), { content: expect.stringContaining('57 seconds') }, expect.anything()],
      },
    });
  });

  it('says which service is missing', async () => {
    const error = await errorOf(exeSql, '', { args: { sql: 'SELECT 1' }, params });
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('databases') });
  });

  it('replaces references in the SQL of a node by their text', async () => {
    const { databases, asked } = fake({ columns: ['a'], rows: [[1]] });
    const node = nodeOf(toolComponent(exeSql), { ...params, sql: 'SELECT {Code:A@n} FROM {sys.query}' });
    const surroundings = { outputs: { 'Code:A': { n: 7 } }, variables: { 'sys.query': 't' }, services: { databases } };
    const last = await lastValueFrom(node(activationOf(surroundings)) as Observable<NodeEvent>);
    expect(asked).toEqual(['SELECT 7 FROM t']);
    expect(last).toMatchObject({ outputs: { json: [[{ a: 1 }]] } });
  });
});
