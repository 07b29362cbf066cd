/**
 * What a server has to bear, each beside quiet runs of another user: they take no more than twice their time, and SIGTERM ends the server
 * in time, after which the next one resumes what it left. The times are compared by `npm run test:faults` alone.
 */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../src/json.js';
import { skippedUnless } from '../support/skipped.js';
import { documentOf } from '../transport/support/documents.js';
import { startFloodModel } from './support/flood-model.js';
import { type Follower, startRun, textShown } from './support/follower.js';
import { gauge } from './support/metrics.js';
import { memoryOf } from './support/resources.js';
import {
  call,
  environment,
  type ServerEnvironment,
  type ServerProcess,
  startProcess,
} from './support/server-process.js';
import { IS_FULL, sized } from './support/size.js';

const TIME_LIMIT_MS = sized(1_200_000, 300_000);

/** Connections of each kind. */
const CLIENTS = sized(1_000, 60);
const FLOODS = 5;
const BODY_BYTES = sized(50, 20) * 1024 ** 2;
const QUIET_RUNS = sized(5, 1);
/** How often a run may take as long as alone. */
const MOST_TIMES = 2;
const GRACE_MS = 10_000;
/** What the system may take to end a process that has ended its work. */
const EXIT_MS = 2_000;

/** A model that says ten words in half a second, and one that says a word a minute. */
const MODELS: JsonObject = {
  scripted: {
    rules: [{ when: { system: 'Idle' }, reply_stream: Array.from({ length: 60 }, () => 'word '), delay_ms: 60_000 }],
    default: { reply_stream: Array.from({ length: 10 }, (_, at) => `${at} `), delay_ms: 50 },
  },
};
const QUIET_TEXT = '0 1 2 3 4 5 6 7 8 9 ';

const speaking = (prompt: string, model = 'scripted'): JsonObject =>
  documentOf({
    begin: ['Begin', ['LLM:Say']],
    'LLM:Say': [
      'LLM',
      ['Message:Out'],
      { llm_id: model, sys_prompt: prompt, prompts: [{ role: 'user', content: '{sys.query}' }] },
    ],
    'Message:Out': ['Message', [], { content: ['{LLM:Say@content}'] }],
  });

const ENDLESS = documentOf({
  begin: ['Begin', ['StringTransform:A']],
  'StringTransform:A': ['StringTransform', ['StringTransform:B'], { method: 'merge', script: 'a', delimiters: [' '] }],
  'StringTransform:B': ['StringTransform', ['StringTransform:A'], { method: 'merge', script: 'b', delimiters: [' '] }],
});

/** A server under trial, and the agents that it has. */
interface Subject {
  readonly server: ServerProcess;
  readonly agents: Readonly<Record<'quiet' | 'idle' | 'flood' | 'endless', string>>;
  /** Aborted when the server has ended. */
  readonly over: AbortSignal;
}

/** What a server bears, and whether its models say as much as it reads. */
interface Load {
  readonly begin: (subject: Subject) => Promise<void>;
  readonly isTorrent?: boolean;
}

const LOADS: Readonly<Record<string, Load>> = {
  'idle WebSockets': { begin: idleWebSockets },
  'followers of an idle run': { begin: idleFollowers },
  'connections that send nothing, or half a request': { begin: halfRequests },
  'bodies that are too large': { begin: largeBodies },
  uploads: { begin: uploads },
  'uploads that do not end': { begin: endlessUploads },
  'floods whose clients do not read': { begin: floodsUnread },
  'floods whose clients read': { begin: floods },
  'torrents whose clients do not read': { begin: floodsUnread, isTorrent: true },
  'endless canvases': { begin: endless },
};

const ALL: Load = {
  async begin(subject) {
    for (const { begin } of Object.values(LOADS)) await begin(subject);
  },
};

describe('a quiet run beside', () => {
  it.runIf(IS_FULL).each(Object.entries(LOADS))(
    skippedUnless(IS_FULL, 'npm run test:faults runs it', '%s'),
    { timeout: TIME_LIMIT_MS },
    async (name, load) => {
      const { aloneMs, besideMs, stopMs } = await bear(name, load);
      expect(besideMs).toBeLessThanOrEqual(MOST_TIMES * aloneMs);
      expect(stopMs).toBeLessThanOrEqual(GRACE_MS + EXIT_MS);
    },
  );

  it('all of it at once', { timeout: TIME_LIMIT_MS }, async () => {
    await bear('all at once', ALL);
  });
});

/** Expects quiet runs to be whole beside it, and the next server to finish one that this one leaves at SIGTERM. */
async function bear(name: string, { begin, isTorrent = false }: Load) {
  const env = { ...(await settings()), OPENAI_BASE_URL: await startFloodModel({ isTorrent }) };
  const over = new AbortController();
  const server = await startProcess(env);
  const agents = await createAgents(server.url);
  const aloneMs = await timeOfQuietRuns(server.url, agents.quiet);
  const { now: before } = memoryOf(server.pid);
  await begin({ server, agents, over: over.signal });
  const besideMs = await timeOfQuietRuns(server.url, agents.quiet);
  const { now, most } = memoryOf(server.pid);
  let url = server.url;
  const follower = await startQuietRun(() => url, agents.quiet);
  const stopping = performance.now();
  await server.stop();
  const stopMs = performance.now() - stopping;
  over.abort();
  const next = await startProcess(env);
  url = next.url;
  await follower.done;
  expectWhole(follower);
  await next.kill();
  const [alone, beside, stop] = [aloneMs, besideMs, stopMs].map(Math.round);
  console.log(
    `${name}: alone ${alone} ms, beside it ${beside} ms; ${before} MiB before, ${now} MiB beside, at most ${most}; SIGTERM ${stop} ms`,
  );
  return { aloneMs, besideMs, stopMs };
}

async function settings(): Promise<ServerEnvironment> {
  const env = await environment({
    RUNNEL_MAX_STEPS: '1000000000',
    // Those of the floods do not end.
    MAX_CONCURRENT_CHATS: '1000',
    RUNNEL_RUN_LOG_BYTES: String(16 * 1024 ** 3),
    RUNNEL_SHUTDOWN_GRACE_MS: String(GRACE_MS),
  });
  const models = path.join(env.RUNNEL_DATA_DIR as string, 'models.json');
  await writeFile(models, JSON.stringify(MODELS));
  return { ...env, RUNNEL_MODELS: models };
}

async function createAgents(url: string): Promise<Subject['agents']> {
  const create = async (title: string, dsl: JsonObject): Promise<string> =>
    (await call(`${url}/api/v1/agents`, { title, dsl })).data.id;
  return {
    quiet: await create('Quiet', speaking('Count.')),
    idle: await create('Idle', speaking('Idle.')),
    flood: await create('Flood', speaking('Flood.', 'flood')),
    endless: await create('Endless', ENDLESS),
  };
}

/** The median, in milliseconds. */
async function timeOfQuietRuns(url: string, agent: string): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < QUIET_RUNS; run += 1) {
    const startedAt = performance.now();
    const follower = await startQuietRun(() => url, agent);
    await follower.done;
    times.push(performance.now() - startedAt);
    expectWhole(follower);
  }
  return times.sort((one, other) => one - other)[Math.floor(times.length / 2)] as number;
}

/** How often a request is sent whose connection is closed before an answer. */
const MOST_TRIES = 3;

/**
 * A run, also when this process was too busy to see in time that the server had closed a connection which it kept for another request: that
 * is found out by using it.
 */
async function startQuietRun(url: () => string, agent: string): Promise<Follower> {
  const reasons: unknown[] = [];
  while (reasons.length < MOST_TRIES) {
    const follower = await startRun(url, agent, (reason) => reasons.push(reason));
    if (follower !== undefined) return follower;
  }
  throw new AggregateError(reasons, `The server did not answer ${MOST_TRIES} requests for a quiet run.`);
}

function expectWhole({ seen }: Follower): void {
  expect(textShown(seen), seen.map(({ data }) => data).join('\n')).toBe(QUIET_TEXT);
}

async function idleWebSockets({ server, agents }: Subject): Promise<void> {
  await inTurns(CLIENTS, async () => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/agents/${agents.quiet}/live`, [
      'ragflow.agent.v1',
    ]);
    onTestFinished(() => socket.terminate());
    socket.on('error', () => {});
    await once(socket, 'open');
  });
}

async function idleFollowers({ server, agents }: Subject): Promise<void> {
  const follower = await startRun(() => server.url, agents.idle);
  const events = `/api/v1/agents/${agents.idle}/runs/${follower?.run}/events`;
  await inTurns(CLIENTS, () => openRequest(server.url, `GET ${events}`, []));
  while ((await gauge(server.url, 'runnel_run_subscriptions')) < CLIENTS) await pause(50);
}

async function halfRequests({ server, agents }: Subject): Promise<void> {
  await inTurns(CLIENTS / 2, async () => void (await openSocket(server.url)));
  await inTurns(CLIENTS / 2, () =>
    openRequest(server.url, `POST /api/v1/agents/${agents.quiet}/stream`, ['content-length: 1000'], '{"query":'),
  );
}

/** Each is sent again and again: as JSON, in chunks, and compressed. */
async function largeBodies(subject: Subject): Promise<void> {
  const { server, agents, over } = subject;
  const body = Buffer.alloc(BODY_BYTES, 'x');
  const json = Buffer.concat([Buffer.from('{"query":"'), body, Buffer.from('"}')]);
  const packed = gzipSync(json);
  const post = (sent: Body, headers: Record<string, string> = {}): Promise<number> =>
    statusOf(`${server.url}/api/v1/agents/${agents.quiet}/stream`, sent, {
      'content-type': 'application/json',
      ...headers,
    });
  await repeatedly(over, [
    async () => expect([413, 0]).toContain(await post(json)),
    async () => expect([413, 0]).toContain(await post(streamOf(json))),
    async () => expect([413, 0]).toContain(await post(packed, { 'content-encoding': 'gzip' })),
    () => sendLargeFrame(server.url, agents.quiet, body),
  ]);
}

async function sendLargeFrame(url: string, agent: string, body: Buffer): Promise<void> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/agents/${agent}/live`, ['ragflow.agent.v1']);
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.once('open', () => socket.send(body));
  await closed;
}

async function uploads({ server, agents, over }: Subject): Promise<void> {
  const form = (): FormData => {
    const data = new FormData();
    data.append('file', new Blob([new Uint8Array(BODY_BYTES)]), 'large.bin');
    return data;
  };
  const upload = async (): Promise<void> => {
    expect([200, 0]).toContain(await statusOf(`${server.url}/api/v1/agents/${agents.quiet}/upload`, form()));
  };
  await repeatedly(over, [upload, upload]);
}

async function endlessUploads({ server, agents }: Subject): Promise<void> {
  const head = ['content-type: multipart/form-data; boundary=x', `content-length: ${BODY_BYTES}`];
  const part = `--x\r\ncontent-disposition: form-data; name="file"; filename="a.bin"\r\n\r\n${'x'.repeat(100_000)}`;
  await inTurns(10, () => openRequest(server.url, `POST /api/v1/agents/${agents.quiet}/upload`, head, part));
}

async function floodsUnread({ server, agents }: Subject): Promise<void> {
  await inTurns(FLOODS, () => openRun(server.url, agents.flood, false));
  await pause(sized(10_000, 500));
}

async function floods({ server, agents }: Subject): Promise<void> {
  await inTurns(FLOODS, () => openRun(server.url, agents.flood, true));
  await pause(sized(5_000, 500));
}

async function endless({ server, agents }: Subject): Promise<void> {
  await inTurns(FLOODS, () => openRun(server.url, agents.endless, false));
  await pause(sized(5_000, 500));
}

/** A client that requests a run, and reads nothing of it, or reads all and does nothing with it. */
function openRun(url: string, agent: string, isReading: boolean): Promise<void> {
  const body = JSON.stringify({ query: 'x' });
  const head = ['content-type: application/json', `content-length: ${body.length}`];
  return openRequest(url, `POST /api/v1/agents/${agent}/stream`, head, body, isReading);
}

async function openRequest(
  url: string,
  line: string,
  headers: readonly string[],
  body = '',
  isReading = true,
): Promise<void> {
  const socket = await openSocket(url);
  if (isReading) socket.resume();
  else socket.pause();
  socket.write([`${line} HTTP/1.1`, `host: ${new URL(url).host}`, ...headers, '', body].join('\r\n'));
}

async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Does it so often, fifty at a time. */
async function inTurns(count: number, work: () => Promise<void>): Promise<void> {
  for (let done = 0; done < count; done += 50) {
    await Promise.all(Array.from({ length: Math.min(50, count - done) }, work));
  }
}

/** Does each again and again until `over`; resolves when each was done once. */
async function repeatedly(over: AbortSignal, works: readonly (() => Promise<void>)[]): Promise<void> {
  const problems: unknown[] = [];
  onTestFinished(() => expect(problems).toEqual([]));
  const loops = works.map((work) => {
    let whenDone: () => void = () => {};
    const first = new Promise<void>((resolve) => {
      whenDone = resolve;
    });
    void (async () => {
      while (!over.aborted && problems.length === 0) {
        await work().catch((error: unknown) => problems.push(error));
        whenDone();
      }
    })();
    return first;
  });
  await Promise.all(loops);
}

function streamOf(bytes: Buffer): ReadableStream {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.subarray(at, at + 65_536));
      at += 65_536;
    },
  });
}

type Body = NonNullable<RequestInit['body']>;

/** Status of the answer; 0 when the connection was closed before all was sent. */
async function statusOf(url: string, body: Body, headers: Record<string, string> = {}): Promise<number> {
  try {
    const response = await fetch(url, { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}
