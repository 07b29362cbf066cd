import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../../src/adapters/sql/dialects.js';
import { refusePrivilegedUser } from '../../../src/adapters/sql/rights.js';
import type { DatabaseSession } from '../../../src/adapters/sql/session.js';

/** A session that answers in turn with columns of texts, or fails. */
function answering(dialect: Dialect, ...answers: (readonly (string | null)[] | Error)[]) {
  const asked: string[] = [];
  const session = {
    dialect,
    async query(sql: string) {
      asked.push(sql.trim());
      const answer = answers.shift() ?? [];
      if (answer instanceof Error) throw answer;
      return { columns: ['a'], rows: answer.map((cell) => [cell]), isCut: false };
    },
  } as unknown as DatabaseSession;
  return { session, asked };
}

describe('rights of the user of a database', () => {
  it.each<[Dialect, string, string]>([
    ['postgres', 'superuser', 'superuser'],
    ['postgres', 'pg_execute_server_program', 'pg_execute_server_program'],
    ['mssql', 'sysadmin', 'sysadmin'],
    ['mssql', 'CONTROL SERVER', 'CONTROL SERVER'],
    ['mysql', 'GRANT SELECT, FILE ON *.* TO `a`@`%`', 'FILE'],
    ['mysql', 'GRANT ALL PRIVILEGES ON *.* TO `a`@`%` WITH GRANT OPTION', 'ALL PRIVILEGES'],
  ])('refuses in %s one with %s', async (dialect, row, right) => {
    await expect(refusePrivilegedUser(answering(dialect, [row]).session)).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringContaining(`(${right})`),
    });
  });

  it.each<[Dialect, readonly (string | null)[]]>([
    ['postgres', []],
    ['mssql', [null]],
    [
      'mysql',
      ['GRANT USAGE ON *.* TO `a`@`%`', 'GRANT ALL PRIVILEGES ON `shop`.* TO `a`@`%`', 'GRANT FILE_X ON *.* TO a'],
    ],
    ['trino', []],
  ])('takes in %s one that may read only', async (dialect, rows) => {
    const { session, asked } = answering(dialect, rows);
    await refusePrivilegedUser(session);
    expect(asked).toHaveLength(dialect === 'trino' ? 0 : 1);
  });

  it('asks MySQL 8 what the active roles may do', async () => {
    const user = ['GRANT USAGE ON *.* TO `a`@`%`', 'GRANT `r`@`%`,`s`@`%` TO `a`@`%`'];
    const { session, asked } = answering(
      'mysql',
      user,
      ['`r`@`%`,`s`@`%`'],
      [...user, 'GRANT SUPER ON *.* TO `a`@`%`'],
    );
    await expect(refusePrivilegedUser(session)).rejects.toThrow('(SUPER)');
    expect(asked).toEqual([
      'SHOW GRANTS',
      'SELECT CURRENT_ROLE()',
      'SHOW GRANTS FOR CURRENT_USER() USING `r`@`%`,`s`@`%`',
    ]);
    await refusePrivilegedUser(answering('mysql', user, ['NONE']).session);
  });

  it('believes a server without the catalogue, and no other failure', async () => {
    const missing = Object.assign(new Error('no such function'), { code: '42883' });
    await refusePrivilegedUser(answering('postgres', missing).session);
    await expect(refusePrivilegedUser(answering('postgres', new Error('timeout')).session)).rejects.toThrow('timeout');
  });
});
