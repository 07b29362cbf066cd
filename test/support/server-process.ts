/** What tests need to start servers of others: a port, a user to run as, and the moment when one is ready. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';

/** The most of what a server says that is remembered, in characters. */
const MAX_SAID = 20_000;

/** A port of this machine that nobody uses at this moment. */
export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Servers that refuse to run as root run as the user that their package made; undefined for whoever is not root. */
export function serverUser(name: string): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  if (uid === undefined || gid === undefined) throw new Error(`There is no user "${name}" to run a server as.`);
  return { uid: Number(uid), gid: Number(gid) };
}

/** Resolves when a server has said on its standard error that it is ready; rejects with what it said when it ends before. */
export async function whenSaid(child: ChildProcess, words: string): Promise<void> {
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-MAX_SAID);
      if (said.includes(words)) resolve();
    });
    child.once('exit', () => reject(new Error(`${child.spawnfile} did not start: ${said}`)));
    child.once('error', reject);
  });
}
