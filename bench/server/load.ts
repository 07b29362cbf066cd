/** Clients that run canvases over HTTP, one run after another each, and read every frame of them. */
import { Agent, request } from 'node:http';

/** What one client saw of one run, in milliseconds since its request. */
interface Seen {
  readonly firstMs: number;
  readonly endMs: number;
}

/** How a server is asked to run something. */
export interface Call {
  /** Of one more run. */
  readonly url: () => string;
  /** The same for every run, or of one more. */
  readonly body: object | (() => object);
  /** Whether an answer is that of a run which ended well. */
  readonly isWhole: (text: string) => boolean;
}

export interface LoadOptions extends Call {
  readonly clients: number;
  /** No run is started after this; those at work end. */
  readonly forMs: number;
  /** At least so many runs, however long they take. */
  readonly atLeast: number;
}

/** What all clients saw. */
export interface Load {
  readonly runs: number;
  readonly seconds: number;
  readonly firstMs: readonly number[];
  readonly endMs: readonly number[];
}

/** Runs a canvas with so many clients at once. @throws Error for an answer that is not a whole stream. */
export async function load(options: LoadOptions): Promise<Load> {
  const { clients, forMs, atLeast } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const seen: Seen[] = [];
  const startedAt = performance.now();
  let started = 0;
  const client = async (): Promise<void> => {
    while (started < atLeast || performance.now() - startedAt < forMs) {
      started += 1;
      const { text: _, ...times } = await runOnce(options, agent);
      seen.push(times);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  const seconds = (performance.now() - startedAt) / 1_000;
  agent.destroy();
  return { runs: seen.length, seconds, firstMs: seen.map((one) => one.firstMs), endMs: seen.map((one) => one.endMs) };
}

/** The text of one run. */
export async function framesOf(options: Call): Promise<string> {
  const agent = new Agent();
  try {
    return (await runOnce(options, agent)).text;
  } finally {
    agent.destroy();
  }
}

function runOnce(call: Call, agent: Agent): Promise<Seen & { readonly text: string }> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const since = (): number => performance.now() - startedAt;
    const body = JSON.stringify(typeof call.body === 'function' ? call.body() : call.body);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const url = call.url();
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      let firstMs = Number.NaN;
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece: string) => {
        if (text === '') firstMs = since();
        text += piece;
      });
      answer.on('end', () => {
        if (call.isWhole(text)) resolve({ firstMs, endMs: since(), text });
        else reject(new Error(`A run at ${url} did not end well: ${answer.statusCode} ${text.slice(-500)}`));
      });
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
