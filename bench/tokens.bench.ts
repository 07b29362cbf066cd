/**
 * What a piece of text costs on its way to clients, from the node that says it to the frame that a client reads:
 * `npm run bench -- tokens`.
 *
 * The run is a real one, on stores in memory. Its node speaks as models do: a network packet with many pieces at a time.
 */

import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { BehaviorSubject, Observable } from 'rxjs';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { builtInComponents, loadCanvas } from '../src/canvas/load-canvas.js';
import { runTurn } from '../src/canvas/turn.js';
import { createRegistry, defineComponent, type Registry } from '../src/components/component.js';
import { delta, type NodeEvent, settled } from '../src/graph/node-events.js';
import { createCanvasOpener } from '../src/hosting/canvases.js';
import { DEFAULT_LIMITS } from '../src/hosting/host-options.js';
import { RunHub } from '../src/hosting/run-hub.js';
import { SILENT_LOG } from '../src/logger.js';
import { createModels } from '../src/models/router.js';
import type { RunLog } from '../src/records/run-log.js';
import { modelsFromEnvironment, readConfig } from '../src/settings/read-settings.js';
import { createMemoryStores } from '../src/stores/memory-stores.js';
import { ragflowFrames } from '../src/transport/http/event-stream.js';
import { createServer } from '../src/transport/server.js';
import { milliseconds, type Row } from './measure.js';

const RATE = { unit: '/s', isRate: true };

/** Pieces of text that one run says. */
const COUNT = 200_000;

/** Pieces that come in one packet. */
const PACKET = 64;

/** Measures the way of a piece of text; takes about twenty seconds. */
export async function benchTokens(): Promise<readonly Row[]> {
  return [
    { ...(await inProcess('a client in the process', 1)), bar: 1_000_000, aim: 3_000_000 },
    await inProcess('a client in the process, its log elsewhere', 1, LOG_ELSEWHERE),
    await inProcess('each of 10 clients in the process', 10),
    await throughServer('an event stream', readStream),
    await throughServer('a WebSocket', readSocket),
  ];
}

/** What the log of a database costs this process beside the driver: nothing is kept, and nothing is collected later. */
const LOG_ELSEWHERE: RunLog = {
  claim: async () => 2,
  append: () => {},
  read: async () => [],
  snapshot: async () => undefined,
  end: async () => {},
  delete: async () => {},
};

/** From the node to the text of frames, through the hub. */
async function inProcess(to: string, clients: number, log?: RunLog): Promise<Row> {
  const memory = createMemoryStores();
  const stores = log === undefined ? memory : { ...memory, log };
  const canvas = loadCanvas(DOCUMENT, { registry: REGISTRY });
  const hub = new RunHub({
    stores,
    storedLog: stores.log,
    openCanvas: createCanvasOpener({ registry: REGISTRY }),
    services: { models: createModels(await modelsFromEnvironment({}, async () => '')) },
    durability: 'sync',
    isShared: false,
    telemetry: undefined,
    limits: DEFAULT_LIMITS,
    logger: SILENT_LOG,
    now: Date.now,
  });
  let runs = 0;
  const taken = await milliseconds(
    async () => {
      runs += 1;
      const id = `run-${runs}`;
      const identity = { tenant: 't', id, agentId: 'a', sessionId: `session-${runs}`, messageId: 'm' };
      const live = await hub.start(
        {
          identity,
          work: { plan: canvas.plan, open: (hooks) => runTurn(canvas, {}, hooks) },
          launch: { isDetached: true, headers: {} },
          storesTrace: false,
        },
        await hub.lease({ tenant: 't', sessionId: identity.sessionId, agentId: 'a', run: id }, true),
      );
      let bytes = 0;
      const follow = () => hub.follow('t', id, { after: live.lastSeq, ready$: new BehaviorSubject(true) });
      const ends = Array.from(
        { length: clients },
        () =>
          new Promise<void>((resolve, reject) => {
            follow().subscribe({
              next: (frame) => {
                for (const text of ragflowFrames(frame)) bytes += text.length;
              },
              complete: resolve,
              error: reject,
            });
          }),
      );
      await Promise.all(ends);
      if (bytes < clients * COUNT * 100) throw new Error(`Only ${bytes} characters came.`);
      await live.ended;
      await stores.log.delete('t', id);
    },
    { rounds: 5 },
  );
  return {
    name: `pieces of text through a run to ${to}`,
    value: (COUNT / taken) * 1_000,
    ...RATE,
  };
}

/** Reads a run to its end; gives the number of bytes. */
type Reader = (agentUrl: string) => Promise<number>;

/** Through a server on the loopback address, to a client in the same process, which shares the core with it. */
async function throughServer(way: string, read: Reader): Promise<Row> {
  const models = createModels(await modelsFromEnvironment({}, async () => ''));
  const server = createServer({
    config: readConfig({ RUNNEL_PORT: '0', RUNNEL_SHUTDOWN_GRACE_MS: '0' }),
    stores: createMemoryStores(),
    services: { models },
    registry: REGISTRY,
  });
  const url = await server.listen();
  try {
    const agent = await createAgent(url);
    const taken = await milliseconds(
      async () => {
        const bytes = await read(`${url}/api/v1/agents/${agent}`);
        if (bytes < COUNT * 100) throw new Error(`Only ${bytes} bytes came.`);
      },
      { rounds: 3 },
    );
    return {
      name: `pieces of text through a server to a client with ${way}`,
      value: (COUNT / taken) * 1_000,
      ...RATE,
    };
  } finally {
    await server.close();
    await models.close();
  }
}

async function createAgent(url: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/agents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Talker', dsl: DOCUMENT }),
  });
  return ((await response.json()) as { data: { id: string } }).data.id;
}

/** Counts bytes and nothing else: a client that takes frames apart would be measured with the server. */
async function readStream(agentUrl: string): Promise<number> {
  const asked = request(`${agentUrl}/stream`, { method: 'POST', headers: { 'content-type': 'application/json' } });
  asked.end('{}');
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  let bytes = 0;
  for await (const part of response) bytes += part.length;
  return bytes;
}

async function readSocket(agentUrl: string): Promise<number> {
  const socket = new WebSocket(`${agentUrl.replace('http', 'ws')}/live`, ['ragflow.agent.v1']);
  let bytes = 0;
  socket.on('message', (data: Buffer) => {
    bytes += data.length;
    if (data.length < 200 && data.includes('"type":"done"')) socket.close();
  });
  await once(socket, 'open');
  socket.send('{"type":"run"}');
  await once(socket, 'close');
  return bytes;
}

const PIECE = delta('content', 'word ');

/** Says its pieces, a packet in a turn of the event loop. */
const talker = defineComponent({
  type: 'Talker',
  summary: 'Says many words.',
  params: z.looseObject({}),
  outputs: {},
  speaks: true,
  create: () => () =>
    new Observable<NodeEvent>((subscriber) => {
      let said = 0;
      const say = (): void => {
        const end = Math.min(COUNT, said + PACKET);
        for (; said < end; said += 1) subscriber.next(PIECE);
        if (said < COUNT) timer = setImmediate(say);
        else subscriber.next(settled({}));
      };
      let timer = setImmediate(say);
      return () => clearImmediate(timer);
    }),
});

const REGISTRY: Registry = createRegistry([...builtInComponents.values(), talker]);

const DOCUMENT = {
  components: {
    begin: { obj: { component_name: 'Begin', params: {} }, downstream: ['Talker:A'], upstream: [] },
    'Talker:A': { obj: { component_name: 'Talker', params: {} }, downstream: [], upstream: ['begin'] },
  },
};
