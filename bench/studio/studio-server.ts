/** The built server with a page, a data folder of its own, and models whose pace is known, for what is measured in browsers. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../src/json.js';

export const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** Pieces of the answer of the model `stream`. */
export const STREAMED_PIECES = 4_000;

/** By the system prompt: a model that answers at once, one that takes a while for each node, one that streams for long. */
const MODELS = {
  scripted: {
    rules: [
      { when: { system: 'pace: node' }, reply_stream: ['one ', 'two ', 'three'], delay_ms: 10 },
      {
        when: { system: 'pace: stream' },
        reply_stream: Array.from({ length: STREAMED_PIECES }, (_, at) => (at % 40 === 39 ? '.\n\n' : `word${at} `)),
        delay_ms: 2,
      },
      { when: { system: 'pace: none' }, reply: 'done' },
    ],
  },
};

export interface StudioServer {
  readonly url: string;
  /** Stores a document and gives the id of its agent. */
  agent(title: string, dsl: JsonObject): Promise<string>;
  /** Runs an agent to its end and gives the run's id. */
  run(agent: string, query: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startStudioServer(): Promise<StudioServer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'runnel-studio-bench-'));
  const models = path.join(folder, 'models.json');
  await writeFile(models, JSON.stringify(MODELS));
  const child = spawn(process.execPath, [PROGRAM, 'serve'], {
    env: { ...process.env, RUNNEL_PORT: '0', RUNNEL_DATA_DIR: folder, RUNNEL_MODELS: models },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const url = await addressOf(child);
  return {
    url,
    async agent(title, dsl) {
      const { id } = await post(`${url}/api/v1/agents`, { title, dsl });
      return id as string;
    },
    async run(agent, query) {
      const { run_id: run, status } = await post(`${url}/api/v1/agents/${agent}/run`, { query });
      if (status !== 'succeeded') throw new Error(`The run ${String(run)} ended as ${String(status)}.`);
      return run as string;
    },
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function addressOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('The server has no output.');
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /https?:\/\/[\d.:[\]a-z]+/.exec(line)?.[0];
    if (url !== undefined) {
      child.stdout.resume();
      return url;
    }
  }
  throw new Error('The server ended before it listened.');
}

async function post(url: string, body: JsonObject): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { data, message } = (await response.json()) as { data?: Record<string, unknown>; message?: string };
  if (data === undefined) throw new Error(`${url} was refused: ${String(message)}`);
  return data;
}
