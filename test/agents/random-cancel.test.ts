/**
 * An Agent that is stopped at a random moment, over real sockets and real threads: while its model streams, while a search, an
 * inner agent and a sandbox are at work. Nothing may be left. RUNNEL_CANCEL_ROUNDS sets how often; 200 is the whole of it.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEgressClient } from '../../src/adapters/egress/egress-client.js';
import { createEmbeddedRunner } from '../../src/adapters/sandbox/embedded/embedded-runner.js';
import { loadCanvas } from '../../src/canvas/load-canvas.js';
import { runTurn } from '../../src/canvas/turn.js';
import { isTerminal, type RunEvent } from '../../src/graph/events.js';
import type { Json, JsonObject } from '../../src/json.js';
import { createModels } from '../../src/models/router.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';
import { textOf } from '../adapters/egress/support/servers.js';
import { countStarted, countThreads } from '../adapters/sandbox/support/threads.js';
import { createRandom } from '../support/random.js';

const ROUNDS = Number(process.env.RUNNEL_CANCEL_ROUNDS ?? 12);
const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 1e6));

/** Events of one whole run of the agent, about; a run is stopped behind one of them. */
const EVENTS = 45;

const search = { component_name: 'TavilySearch', params: { api_key: 'k' } };
const code = { component_name: 'CodeExec', params: {} };
const aide = {
  component_name: 'Agent',
  name: 'Aide',
  params: { llm_id: 'm', sys_prompt: 'AIDE', tools: [search], max_rounds: 1 },
};
const canvas = loadCanvas({
  components: {
    begin: { obj: { component_name: 'Begin', params: {} }, downstream: ['Agent:A'] },
    'Agent:A': {
      obj: {
        component_name: 'Agent',
        params: { llm_id: 'm', sys_prompt: 'BOSS', tools: [search, code, aide], max_rounds: 3 },
      },
      downstream: ['Message:M'],
    },
    'Message:M': { obj: { component_name: 'Message', params: { content: ['{Agent:A@content}'] } }, downstream: [] },
  },
});

/** A server that is the model and the search at once, and never in a hurry. */
const answering = new Set<ServerResponse>();
const server = createServer((request, response) => {
  answering.add(response);
  response.on('close', () => answering.delete(response));
  void textOf(request).then((body) => {
    if (request.url === '/search') answerSearch(response);
    else answerChat(JSON.parse(body) as JsonObject, response);
  });
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function answerSearch(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"results": [');
  setTimeout(() => response.end('{"title": "A", "url": "https://a.example", "content": "alpha"}]}'), 15);
}

/** Some text piece by piece, then calls in the first rounds of a conversation. */
function answerChat(body: JsonObject, response: ServerResponse): void {
  const messages = body.messages as readonly JsonObject[];
  const hasTools = Array.isArray(body.tools) && body.tools.length > 0;
  const rounds = messages.filter(({ role }) => role === 'tool').length;
  const isAide = messages.some(({ role, content }) => role === 'system' && String(content).startsWith('AIDE'));
  const calls = !hasTools || rounds > 0 ? [] : isAide ? AIDE_CALLS : BOSS_CALLS;
  const pieces: Json[] = ['Let ', 'me ', 'see', '. '].map((content) => ({ content }));
  if (calls.length > 0) pieces.push({ tool_calls: calls });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const next = (): void => {
    if (response.destroyed) return;
    const piece = pieces.shift();
    if (piece === undefined) {
      response.end('data: [DONE]\n\n');
      return;
    }
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: piece }] })}\n\n`);
    setTimeout(next, 3);
  };
  next();
}

const call = (index: number, name: string, args: JsonObject): JsonObject => ({
  index,
  id: `call-${index}`,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});
const ENDLESS = 'function main() { for (;;) {} }';
const AIDE_CALLS = [call(0, 'tavily_search_0', { query: 'deep' })];
const BOSS_CALLS = [
  call(0, 'tavily_search_0', { query: 'rag' }),
  call(1, 'execute_code_1', { lang: 'javascript', script: ENDLESS }),
  call(2, 'Aide_2', { user_prompt: 'help', reasoning: '', context: '' }),
];

it(
  `leaves nothing when it is stopped at a random moment (${ROUNDS} times, seed ${SEED})`,
  async () => {
    const random = createRandom(SEED);
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const environment = { OPENAI_BASE_URL: `${origin}/v1`, OPENAI_API_KEY: 'k' };
    const models = createModels(await modelsFromEnvironment(environment, async () => ''));
    const runner = createEmbeddedRunner({ maxSpares: 0, timeoutMs: 500 });
    const services = {
      models,
      code: runner,
      http: createEgressClient({ allowPrivateNetwork: true }),
      tools: { baseUrls: { tavily_search: origin } },
    };
    const ends = new Map<string, number>();
    const slowest = { ms: 0 };
    const threadsBefore = countThreads();
    for (let round = 0; round < ROUNDS; round += 1) {
      const { events, gone } = await stopAfter(1 + random.int(EVENTS), services);
      const last = events.at(-1) as RunEvent;
      ends.set(last.type, (ends.get(last.type) ?? 0) + 1);
      expect(events.filter(isTerminal), `one end, in round ${round} of seed ${SEED}`).toHaveLength(1);
      expect(isTerminal(last)).toBe(true);
      slowest.ms = Math.max(slowest.ms, gone);
    }
    await models.close();
    await runner.close();
    expect(ends.get('run-cancelled') ?? 0).toBeGreaterThan(0);
    expect(countThreads()).toBe(threadsBefore);
    console.log(
      `${ROUNDS} stops: ${[...ends].map(([type, count]) => `${count} ${type}`).join(', ')}; ` +
        `${countStarted()} threads were started, everything was gone after ${Math.round(slowest.ms)} ms at most`,
    );
  },
  60_000 + ROUNDS * 6_000,
);

/** Runs the agent and stops it behind its n-th event; gives what it said, and how long it took until every request was closed and every thread gone. */
async function stopAfter(
  count: number,
  services: object,
): Promise<{ readonly events: readonly RunEvent[]; readonly gone: number }> {
  const controller = new AbortController();
  const events: RunEvent[] = [];
  await new Promise<void>((resolve, reject) => {
    runTurn(canvas, { query: 'go' }, { services, signal: controller.signal }).subscribe({
      next(event) {
        events.push(event);
        if (events.length === count) setImmediate(() => controller.abort());
      },
      error: reject,
      complete: resolve,
    });
  });
  const stoppedAt = performance.now();
  // What hangs is ended by the time limit of the test; how long it took is only told.
  for (const response of [...answering]) {
    if (!response.closed) await new Promise((resolve) => response.once('close', resolve));
  }
  while (countThreads() > 0) await new Promise((resolve) => setImmediate(resolve));
  return { events, gone: performance.now() - stoppedAt };
}
