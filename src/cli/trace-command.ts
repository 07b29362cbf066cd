/** `runnel trace`: what a run did, over time. */

import { createReadStream, existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { drawTimeline } from '../canvas/draw-timeline.js';
import { type NumberedWireEvent, RagflowReader } from '../canvas/read-ragflow-events.js';
import { type RunTimeline, TimelineFold } from '../canvas/timeline.js';
import { timelinePage } from '../canvas/timeline-page.js';
import { EngineError } from '../errors.js';
import type { RunEvent } from '../graph/events.js';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../json.js';
import { readSettings } from '../settings/read-settings.js';
import { type Command, cannot, EXIT, parse, usualServerUrl } from './command.js';
import { readTimelineView } from './read-timeline.js';
import type { Terminal } from './terminal.js';

export const traceCommand: Command = {
  usage: 'trace <run> [--url URL] [--agent ID] [--html FILE] [--json]',
  summary: 'show what a run did, over time',
  help: `  <run>              id of a run of a server, or a file with events from \`runnel run --events\`;
                     "-" reads them from the standard input
  --url URL          where the server is; else RUNNEL_URL, else where \`runnel serve\` listens
  --agent ID         the agent of the run; without it all agents are asked
  --html FILE        writes one page that needs nothing else, instead of drawing
  --json             prints the timeline as JSON, instead of drawing

One line is one node, from the start of the run on the left to its end on the right. RUNNEL_API_KEY is sent to
a server that wants a key.
Exit codes: 0 shown, 2 there is no such run.`,
  async run(args, terminal) {
    const { values, positionals } = parse(
      traceCommand,
      args,
      { url: { type: 'string' }, agent: { type: 'string' }, html: { type: 'string' }, json: { type: 'boolean' } },
      { least: 1, most: 1 },
    );
    const source = positionals[0] as string;
    const server = addressOf(values.url, values.agent, terminal);
    const { timeline, agent } = await readTimeline(source, server, terminal);
    if (values.html !== undefined) await write(values.html, timelinePage(timeline, `Run ${source}`, agent));
    if (values.json === true) terminal.out.write(`${JSON.stringify(timeline, null, 2)}\n`);
    else if (values.html === undefined) {
      const { out, env } = terminal;
      const hasColours = out.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
      const columns = out.columns ?? (Number(env.COLUMNS) || undefined);
      out.write(drawTimeline(timeline, { hasColours, agent, ...(columns === undefined ? {} : { columns }) }));
    }
    return EXIT.finished;
  },
};

/** @throws EngineError USAGE for something that is no address of a server. */
function addressOf(given: string | undefined, agent: string | undefined, { env }: Terminal): ServerAddress {
  const { client } = readSettings(env, 'client');
  const url = (given ?? client.url) || usualServerUrl(env);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new EngineError(
      'USAGE',
      `The address of a server begins with http:// or https://; received ${JSON.stringify(url)}.`,
    );
  }
  return { url: url.replace(/\/+$/, ''), key: client.apiKey, agent };
}

async function write(file: string, page: string): Promise<void> {
  try {
    await writeFile(file, page);
  } catch (cause) {
    throw cannot(`write "${file}"`, cause);
  }
}

/** Longest line, in characters: an event of a run is smaller. */
const MAX_LINE = 64 * 1024 * 1024;

/** Agents of a server that are searched for a run without `--agent`. */
const MAX_AGENTS = 1_000;

const ID = /^[\w-]{1,128}$/;

/** The address of a server, and the key of its API. */
export interface ServerAddress {
  readonly url: string;
  readonly key: string | undefined;
  /** The agent of the run. @default looked for among all */
  readonly agent: string | undefined;
}

/** A timeline, and the title of its agent where that is known. */
export interface FoundTimeline {
  readonly timeline: RunTimeline;
  readonly agent?: string;
}

/**
 * The timeline of a run: of `-`, of a file that exists, or else of a run of the server.
 *
 * @throws EngineError USAGE when there is no such thing, or what is there are no events.
 */
export async function readTimeline(source: string, server: ServerAddress, terminal: Terminal): Promise<FoundTimeline> {
  if (source === '-') return { timeline: await fold(terminal.openInput(), 'the standard input') };
  if (existsSync(source)) return { timeline: await fold(createReadStream(source), `"${source}"`) };
  if (!ID.test(source))
    throw new EngineError('USAGE', `There is no file ${JSON.stringify(source)}, and no run is called so.`);
  return fromServer(source, server, terminal.signal);
}

/** Folds lines: events as `runnel run --events` prints them, or an event stream as a server sends it. */
async function fold(stream: Readable, name: string): Promise<RunTimeline> {
  const reader = new RagflowReader();
  const timeline = new TimelineFold(reader.describe);
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  let count = 0;
  let number = 0;
  try {
    for await (const line of lines) {
      number += 1;
      const event = eventOf(line, `line ${number} of ${name}`);
      if (event === undefined) continue;
      const read = 'type' in event ? [event] : reader.read(event);
      for (const one of read) timeline.add(one);
      count += 1;
    }
  } catch (cause) {
    throw EngineError.is(cause) ? cause : cannot(`read ${name}`, cause);
  } finally {
    stream.destroy();
  }
  if (count === 0)
    throw new EngineError('USAGE', `There are no events in ${name}; \`runnel run --events\` prints some.`);
  for (const one of reader.end()) timeline.add(one);
  return timeline.timeline;
}

function eventOf(line: string, where: string): RunEvent | NumberedWireEvent | undefined {
  const text = line.startsWith('data:') ? line.slice(5).trim() : line.trim();
  if (text === '' || text === '[DONE]' || /^(?::|id:|event:|retry:)/.test(text)) return undefined;
  const wrong = (): EngineError => new EngineError('USAGE', `There is no event of a run in ${where}.`);
  if (text.length > MAX_LINE) throw wrong();
  const value = parseJson(text);
  if (!isJsonObject(value)) throw wrong();
  // RAGFlow's last frame of a stream that failed repeats what an event reported.
  if (typeof value.code === 'number' && value.event === undefined) return undefined;
  if (!isEvent(value)) throw wrong();
  return value as unknown as RunEvent | NumberedWireEvent;
}

/** Whether it has the fields that every event of its kind has. */
function isEvent(value: JsonObject): boolean {
  if (typeof value.event === 'string') return isJsonObject(value.data) && isCount(value.created_at);
  if (typeof value.type !== 'string' || !isCount(value.at) || !isCount(value.seq)) return false;
  if (value.type.startsWith('node-') && typeof value.node !== 'string') return false;
  if (value.type === 'node-delta') return typeof value.text === 'string';
  if (value.type === 'node-call' && !isJsonObject(value.call)) return false;
  if (/^run-(?:settled|interrupted|failed|cancelled)$/.test(value.type) && !isJsonObject(value.usage)) return false;
  return value.type === 'node-failed' || value.type === 'run-failed' ? isJsonObject(value.error) : true;
}

function isCount(value: Json | undefined): boolean {
  return typeof value === 'number' && Number.isFinite(value);
}

async function fromServer(run: string, server: ServerAddress, signal: AbortSignal): Promise<FoundTimeline> {
  const agents = server.agent === undefined ? await agentsOf(server, signal) : [await agentOf(server, signal)];
  for (const { id, title } of agents) {
    const found = await getJson(server, `/api/v1/agents/${encodeURIComponent(id)}/runs/${run}/trace`, signal);
    const timeline = readTimelineView(found);
    if (timeline !== undefined) return { timeline, agent: title };
    if (found !== undefined) throw new EngineError('USAGE', `The server at ${server.url} shows runs in another way.`);
  }
  throw new EngineError('USAGE', `The server at ${server.url} has no run "${run}", or keeps its events no longer.`);
}

/** An agent of a server. */
interface NamedAgent {
  readonly id: string;
  readonly title: string;
}

function namedAgent({ id, title }: JsonObject): NamedAgent[] {
  return typeof id === 'string' ? [{ id, title: typeof title === 'string' && title !== '' ? title : id }] : [];
}

async function agentOf(server: ServerAddress, signal: AbortSignal): Promise<NamedAgent> {
  const id = server.agent ?? '';
  const found = await getJson(server, `/api/v1/agents/${encodeURIComponent(id)}`, signal);
  return namedAgent(found ?? {})[0] ?? { id, title: id };
}

async function agentsOf(server: ServerAddress, signal: AbortSignal): Promise<NamedAgent[]> {
  const agents: NamedAgent[] = [];
  for (let page = 1; agents.length < MAX_AGENTS; page += 1) {
    const found = await getJson(server, `/api/v1/agents?page=${page}&page_size=100`, signal);
    const canvases = Array.isArray(found?.canvas) ? found.canvas : [];
    agents.push(...canvases.filter(isJsonObject).flatMap(namedAgent));
    if (canvases.length < 100) break;
  }
  return agents;
}

/** `data` of an answer; undefined when there is none. @throws EngineError USAGE when the server cannot be reached or refuses the key. */
async function getJson(server: ServerAddress, path: string, signal: AbortSignal): Promise<JsonObject | undefined> {
  const answer = await get(server, path, signal);
  const body: unknown = await answer.json().catch(() => undefined);
  if (answer.status === 401) {
    const why =
      server.key === undefined ? 'wants a key: set RUNNEL_API_KEY' : 'does not take the key in RUNNEL_API_KEY';
    throw new EngineError('USAGE', `The server at ${server.url} ${why}.`);
  }
  return isJsonObject(body) && body.code === 0 && isJsonObject(body.data) ? body.data : undefined;
}

async function get({ url, key }: ServerAddress, path: string, signal: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  try {
    return await fetch(`${url}${path}`, { headers, signal });
  } catch (cause) {
    throw cannot(`reach the server at ${url}`, cause);
  }
}
