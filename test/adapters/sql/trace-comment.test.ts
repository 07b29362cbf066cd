import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../../src/adapters/sql/dialects.js';
import { traceComment, withComment } from '../../../src/adapters/sql/schema.js';
import { readStatements } from '../../../src/adapters/sql/statements.js';
import { readTokens } from '../../../src/adapters/sql/tokens.js';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const DIALECTS: readonly Dialect[] = ['postgres', 'mysql', 'mssql', 'trino'];

const STATEMENTS = [
  'SELECT 1',
  'SELECT 1 -- to the end',
  'SELECT 1 /* a comment */',
  'SELECT 1 /* one */ -- two',
  "SELECT '-- no comment'",
  "SELECT '/* no comment'",
  'SELECT "a#b" FROM t',
  'WITH x AS (SELECT 1) SELECT * FROM x',
];

describe('the comment of a trace', () => {
  it.each([
    undefined,
    {},
    { traceparent: '' },
    { traceparent: `${TRACEPARENT}'*/; DROP TABLE t; --` },
    { traceparent: `${TRACEPARENT}\n` },
    { traceparent: TRACEPARENT.toUpperCase() },
    { traceparent: "*/ DELETE FROM t /*' " },
    { tracestate: '*/', baggage: '*/' },
  ])('is nothing for %j', (trace) => {
    expect(traceComment(trace)).toBe('');
  });

  it.each(DIALECTS.flatMap((dialect) => STATEMENTS.map((sql) => [dialect, sql] as const)))(
    'stands behind a statement of %s as one comment: %s',
    (dialect, sql) => {
      const comment = traceComment({ traceparent: TRACEPARENT, tracestate: "x='*/" });
      const sent = withComment(sql, comment);
      expect(readStatements(sent, dialect)).toEqual([sent]);
      const tokens = readTokens(sent, dialect);
      expect(tokens.at(-1)).toMatchObject({ kind: 'comment', source: comment });
      expect(tokens.slice(0, -1)).toEqual(readTokens(sql, dialect));
    },
  );
});
