import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { BehaviorSubject, lastValueFrom, map, toArray } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { prepareDatabase } from '../../../scripts/prepare-database.js';
import { type ChatRunInfo, toChatEvent } from '../../../src/chat/chat-frames.js';
import type { ChatEvent } from '../../../src/chat/pipeline/chat-events.js';
import type { RunEvent } from '../../../src/graph/events.js';
import { createHost } from '../../../src/hosting/host.js';
import { sized } from '../../durable/support/size.js';
import { openEmbedded } from '../../stores/support/open-stores.js';
import { temporaryFolder } from '../../stores/support/temporary-folder.js';
import { createRandom } from '../../support/random.js';
import { ofType } from './support/chat-host.js';
import { begin, type HeldServer, say, startHeldServer } from './support/held-server.js';
import { chatServices } from './support/lost-chat.js';

/** Runs a process that answers, and kills it with the line that `isLast` says; gives its lines, the first of which is the id of the run. */
async function killedWith(
  args: readonly string[],
  isLast: (line: string, number: number) => boolean,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const file = fileURLToPath(new URL('./support/chatter.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (child.killed) continue;
    lines.push(line);
    // A run that has ended has nothing more to tell.
    if (isLast(line, lines.length) || /^run-(settled|failed|cancelled)$/.test(line)) child.kill('SIGKILL');
  }
  await exit;
  return lines;
}

/** How long a run may take that goes on: nothing fails for a machine that is busy with other things. */
const PATIENCE_MS = 180_000;
/** The same for a test: a process that is killed, and one that goes on. */
const TEST_MS = 2 * PATIENCE_MS;

/** Goes on with a run in this process, whose clock is that much later, until it is over; gives its log, and what the chat told. */
async function goneOn(dataDir: string, url: string, run: string, laterMs = 0) {
  const stores = await openEmbedded(dataDir);
  const services = await chatServices(url, stores.chats);
  // It has no client here, and on a busy machine it may take longer than one that left would be waited for.
  const limits = { leaseMs: 1_000, detachGraceMs: 0 };
  const host = createHost({ stores, services, limits, now: () => Date.now() + laterMs });
  const close = async (): Promise<void> => {
    await host.close(0);
    await services.models.close();
    await stores.close();
  };
  onTestFinished(close);
  host.recover();
  await host.whenOver('t', run, PATIENCE_MS);
  const record = await host.record('t', run);
  expect(record?.status, 'it is over in time').not.toBe('running');
  const session = record?.sessionId as string;
  const events: RunEvent[] = await lastValueFrom(
    host.follow('t', run, { after: 0, ready$: new BehaviorSubject(true), isExact: true }).pipe(
      map(({ source }) => source),
      toArray(),
    ),
  );
  const about: ChatRunInfo = { sessionId: session, traceId: 't' };
  const told: ChatEvent[] = events.flatMap((event) => toChatEvent(event, about) ?? []);
  const stored = await stores.chats.messages('t', session, { limit: 10 });
  const messages = (await stores.sessions.find('t', session))?.messages ?? [];
  return {
    events,
    told,
    stored: stored.map(({ content }) => content),
    messages: messages.map(({ content }) => content),
  };
}

type GoneOn = Awaited<ReturnType<typeof goneOn>>;

/** Nothing is lost, and nothing is there twice. */
function expectOnce({ events, told, stored, messages }: GoneOn, question: string, answer: string): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  expect(ofType(told, 'session')).toHaveLength(1);
  expect(told.filter(({ type }) => type === 'final' || type === 'error')).toEqual([told.at(-1)]);
  expect(told.at(-1)).toMatchObject({ type: 'final', response: answer });
  const retracted = told.findLastIndex(({ type }) => type === 'retract');
  const tokens = ofType(told.slice(retracted + 1), 'token').map(({ content }) => content);
  expect(tokens.join('')).toBe(answer);
  expect(stored).toEqual([question, answer]);
  expect(messages).toEqual([question, answer]);
}

function understand(model: HeldServer): void {
  model.answers.set('chat_rewrite', say('{"rewrites": ["What is it?"]}'));
  model.answers.set('chat_intent', say('{"intents": [{"kind": "KB", "confidence": 0.9}]}'));
}

it('a chat whose process was killed goes on, and its messages are stored once', { timeout: TEST_MS }, async () => {
  const model = await startHeldServer();
  understand(model);
  model.answers.set('answer', begin('It is half an'));
  const dataDir = await temporaryFolder();
  const args = [dataDir, await prepareDatabase(), model.url, 'What is it?'];
  const [run = ''] = await killedWith(args, (line) => line === 'node-delta');

  model.answers.set('answer', say('It is a snapshot.'));
  const gone = await goneOn(dataDir, model.url, run);
  expectOnce(gone, 'What is it?', 'It is a snapshot.');
  expect(gone.told).toContainEqual({ type: 'token', content: 'It is half an' });
});

describe('the deadline of a chat whose process was killed', () => {
  /** Far more than a busy machine takes for what is left of the chat. */
  const DEADLINE_MS = 900_000;

  it.each([
    ['is over when its time has gone by meanwhile', DEADLINE_MS + 1, { type: 'error', code: 'RUN_TIMEOUT' }],
    ['leaves it the rest of its time', DEADLINE_MS / 2, { type: 'final', response: 'It is a snapshot.' }],
  ])('%s', { timeout: TEST_MS }, async (_, laterMs, last) => {
    const model = await startHeldServer();
    understand(model);
    model.answers.set('answer', begin('It is half an'));
    const dataDir = await temporaryFolder();
    const args = [dataDir, await prepareDatabase(), model.url, 'What is it?'];
    const [run = ''] = await killedWith(args, (line) => line === 'node-delta', { DEADLINE_MS: String(DEADLINE_MS) });

    // With a time that begins anew there would be an answer.
    model.answers.set('answer', say('It is a snapshot.'));
    const { told } = await goneOn(dataDir, model.url, run, laterMs);
    expect(told.at(-1)).toMatchObject(last);
    expect(told.filter(({ type }) => type === 'final' || type === 'error')).toHaveLength(1);
  });
});

const SKY = {
  temperature_2m: 7.5,
  apparent_temperature: 5.1,
  relative_humidity_2m: 40,
  precipitation: 0,
  weather_code: 2,
};
const WEATHER = { utc_offset_seconds: 28_800, current: { time: '2026-11-21T20:00', ...SKY, wind_speed_10m: 9.3 } };

/** Processes that are killed in a row on each chat, and chats; `npm run test:faults` has more. */
const CHATS = sized(12, 2);
const KILLS = 2;

it(`${CHATS} chats whose processes are killed at any moment repeat no call that a tool has answered`, {
  timeout: TEST_MS * CHATS,
}, async () => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000_000);
  const random = createRandom(seed);
  const question = '北京今天天气怎么样';
  for (let chat = 0; chat < CHATS; chat += 1) {
    const model = await startHeldServer();
    understand(model);
    model.answers.set('answer', say('It is 7.5 degrees [1].'));
    model.answers.set('tool', ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(WEATHER));
    });
    const calls = (): number => model.arrived.filter(({ purpose }) => purpose === 'tool').length;
    const dataDir = await temporaryFolder();
    const args = [dataDir, await prepareDatabase(), model.url, question];
    let run: string | undefined;
    let mayCall = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      // With the id of the run and what was told before.
      const last = 2 + random.int(25);
      const lines = await killedWith([...args, ...(run === undefined ? [] : [run])], (_, number) => number >= last);
      run ??= lines[0];
      if (!lines.includes('node-progress')) mayCall += 1;
    }
    const gone = await goneOn(dataDir, model.url, run as string);
    expectOnce(gone, question, 'It is 7.5 degrees [1].');
    const asked = calls();
    expect(asked, `SEED=${seed}, chat ${chat}`).toBeGreaterThan(0);
    expect(asked, `SEED=${seed}, chat ${chat}`).toBeLessThanOrEqual(mayCall + 1);
  }
});
