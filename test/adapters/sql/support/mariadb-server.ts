/** A real MariaDB server for tests, started from the binaries of the machine. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createConnection } from 'mysql2/promise';
import { describe } from 'vitest';
import { makeFolder, removeFolder } from '../../../stores/support/temporary-folder.js';
import { freePort, serverUser, whenSaid } from '../../../support/server-process.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../../egress/support/certificate.js';

export interface MariadbServer {
  readonly port: number;
  /** Runs a statement as the administrator; gives its rows as lists of cells. */
  admin(sql: string): Promise<unknown[][]>;
  stop(): Promise<void>;
}

const MISSING = 'no MariaDB here: run "apt-get install -y mariadb-server"';
const NAMES = ['mariadbd', 'mariadb-install-db'];

/** A group of tests that need a server; without one they are reported as skipped, with the reason in their name. */
export function describeMariadb(name: string, define: () => void): void {
  if (NAMES.every((one) => binary(one) !== undefined)) describe(name, define);
  else describe.skip(`${name} (${MISSING})`, define);
}

/** Starts a server, with the test certificate when asked, and in it a database `shop` and a user `app` whose password is `app-secret`. */
export async function startMariadb({ hasTls = false } = {}): Promise<MariadbServer> {
  const folder = await makeFolder();
  const user = serverUser('mysql');
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const data = path.join(folder, 'data');
  const made = spawnSync(
    binary('mariadb-install-db') as string,
    ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'],
    { ...user, cwd: folder, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`mariadb-install-db failed: ${made.stdout}${made.stderr}`);
  const certificate = path.join(folder, 'certificate.pem');
  const key = path.join(folder, 'key.pem');
  await Promise.all([writeFile(certificate, TEST_CERTIFICATE), writeFile(key, TEST_KEY)]);
  const port = await freePort();
  const socketPath = path.join(folder, 'm.sock');
  const child = spawn(
    binary('mariadbd') as string,
    [
      '--no-defaults',
      `--datadir=${data}`,
      `--socket=${socketPath}`,
      `--pid-file=${path.join(folder, 'pid')}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--skip-log-bin',
      '--innodb-flush-log-at-trx-commit=0',
      '--innodb-buffer-pool-size=8M',
      ...(hasTls ? [`--ssl-cert=${certificate}`, `--ssl-key=${key}`] : []),
    ],
    { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  await whenSaid(child, 'ready for connections');
  const connection = await createConnection({ socketPath, user: 'root', rowsAsArray: true });
  const admin = async (sql: string): Promise<unknown[][]> => (await connection.query(sql))[0] as unknown as unknown[][];
  await admin('CREATE DATABASE shop CHARACTER SET utf8mb4');
  await admin("CREATE USER app@'127.0.0.1' IDENTIFIED BY 'app-secret'");
  await admin("GRANT ALL ON shop.* TO app@'127.0.0.1'");
  await admin('USE shop');
  return {
    port,
    admin,
    async stop() {
      connection.destroy();
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      await removeFolder(folder);
    },
  };
}

function binary(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/bin'];
  return folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
}
