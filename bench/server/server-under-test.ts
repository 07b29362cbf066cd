/** A server in a process of its own, asked for what it counts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { childrenOf, processMicroseconds } from './databases.js';

/** What a server has counted since it was started. */
export interface Counts {
  /** Of its databases, of any kind; see `counting.mjs`. */
  readonly statements: number;
  readonly bytes: number;
  readonly writes: number;
  readonly roundTrips: number;
  readonly clientWrites: number;
  /** Processor time of the server's process. */
  readonly microseconds: number;
  readonly heapUsed: number;
  readonly rss: number;
  /** What its embedded database has written to its log. */
  readonly embeddedBytes: number;
}

export interface ServerUnderTest {
  readonly url: string;
  readonly pid: number;
  /** @param collect collects garbage before */
  counts(collect?: boolean): Promise<Counts>;
  /** Round trips to databases before the first piece of an answer, of each answer since it was asked. */
  trips(): Promise<readonly number[]>;
  /** How often each statement was sent, the most frequent first. */
  statements(): Promise<readonly (readonly [text: string, count: number])[]>;
  startProfile(): Promise<void>;
  endProfile(file: string): Promise<void>;
  /** Microseconds of processor time of its embedded database. */
  embeddedMicroseconds(): number;
  stop(): Promise<void>;
}

const COUNTING = fileURLToPath(new URL('./counting.mjs', import.meta.url));
/** Has dependencies of its own. */
export const PEERS = fileURLToPath(new URL('../peers', import.meta.url));
const BARE = fileURLToPath(new URL('./bare.mjs', import.meta.url));

/** Starts the server of a checkout as its `npm start` does, without the examples: its build where there is one, else its sources. */
export function startServer(
  tree: string,
  environment: Record<string, string>,
  models: object,
): Promise<ServerUnderTest> {
  const built = path.join(tree, 'dist/cli/main.js');
  const program = existsSync(built) ? [built] : ['--import', 'tsx', path.join(tree, 'src/cli/main.ts')];
  return start([...flagsOfStart(tree), ...program, 'serve'], tree, environment, { models });
}

/** The flags that `npm start` gives to Node. */
function flagsOfStart(tree: string): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(path.join(tree, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly start: string };
  };
  const [flags = ''] = scripts.start.split(' dist/');
  return flags.split(' ').filter((word) => word.startsWith('--'));
}

/** Starts the route that only sends. @param frames what it sends, by agent */
export function startBare(frames: Readonly<Record<string, readonly string[]>>): Promise<ServerUnderTest> {
  return start([BARE], process.cwd(), {}, { frames });
}

/** Starts a server of `bench/peers`. @param file of that folder */
export function startPeer(file: string, environment: Record<string, string>): Promise<ServerUnderTest> {
  return start([path.join(PEERS, file)], PEERS, environment, {});
}

async function start(
  program: readonly string[],
  cwd: string,
  environment: Record<string, string>,
  given: { readonly models?: object; readonly frames?: object },
): Promise<ServerUnderTest> {
  const folder = await mkdtemp(path.join(tmpdir(), 'runnel-bench-'));
  const file = path.join(folder, 'given.json');
  await writeFile(file, JSON.stringify(given.models ?? given.frames ?? {}));
  const { DATABASE_URL: _, REDIS_URL: __, ...inherited } = process.env;
  const env = {
    ...inherited,
    ...environment,
    NODE_ENV: 'production',
    RUNNEL_PORT: '0',
    RUNNEL_DATA_DIR: path.join(folder, 'data'),
    ...(given.models === undefined ? {} : { RUNNEL_MODELS: file }),
  };
  const args = ['--expose-gc', '--import', COUNTING, ...program, ...(given.frames === undefined ? [] : [file])];
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const url = await urlOf(child);
  const ask = asker(child);
  return {
    url,
    pid: child.pid as number,
    counts: (collect = false) => ask<Counts>({ ask: collect ? 'collect' : 'counts' }),
    trips: async () => (await ask<{ trips: readonly number[] }>({ ask: 'trips' })).trips,
    statements: async () => (await ask<{ texts: readonly (readonly [string, number])[] }>({ ask: 'statements' })).texts,
    startProfile: () => ask({ ask: 'profile' }),
    endProfile: (target) => ask({ ask: 'profiled', file: target }),
    embeddedMicroseconds: () => childrenOf(child.pid as number).reduce((sum, pid) => sum + processMicroseconds(pid), 0),
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function urlOf(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  for await (const line of lines) {
    const found = /listens on (\S+)/.exec(line)?.[1];
    if (found === undefined) continue;
    child.stdout?.resume();
    return found;
  }
  throw new Error(`The server ended at its start with code ${child.exitCode}.`);
}

function asker(child: ChildProcess): <T>(question: object) => Promise<T> {
  let count = 0;
  return <T>(question: object) => {
    count += 1;
    const id = count;
    return new Promise<T>((resolve, reject) => {
      const gone = (code: number | null): void => reject(new Error(`The server under test ended with code ${code}.`));
      const listen = (answer: { readonly id: number }): void => {
        if (answer.id !== id) return;
        child.off('message', listen);
        child.off('exit', gone);
        resolve(answer as T);
      };
      child.on('message', listen);
      child.once('exit', gone);
      child.send({ ...question, id });
    });
  };
}
