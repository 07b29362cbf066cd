/** Where `runnel trace` has its events from: a file, the standard input, or a server. */
import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { type RunTimeline, type TimelineEvent, TimelineFold } from '../canvas/timeline.js';
import { EngineError } from '../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { readTimelineView } from './read-timeline.js';
import type { Terminal } from './terminal.js';

/** Longest line, in characters: an event of a run is smaller. */
const MAX_LINE = 64 * 1024 * 1024;

/** Agents of a server that are asked for a run nobody names the agent of. */
const MAX_AGENTS = 1_000;

const ID = /^[\w-]{1,128}$/;

/** Where a server is, and how it is asked. */
export interface ServerAddress {
  readonly url: string;
  readonly key: string | undefined;
  /** The agent of the run. @default looked for among all */
  readonly agent: string | undefined;
}

/**
 * The timeline of a run: of `-`, of a file that exists, or else of a run of the server.
 *
 * @throws EngineError USAGE when there is no such thing, or what is there are no events.
 */
export async function readTimeline(source: string, server: ServerAddress, terminal: Terminal): Promise<RunTimeline> {
  if (source === '-') return fold(terminal.openInput(), 'the standard input');
  if (existsSync(source)) return fold(createReadStream(source), `"${source}"`);
  if (!ID.test(source))
    throw new EngineError('USAGE', `There is no file ${JSON.stringify(source)}, and no run is called so.`);
  return fromServer(source, server, terminal.signal);
}

/** Folds lines: events as `runnel run --events` prints them, or an event stream as a server sends it. */
async function fold(stream: Readable, name: string): Promise<RunTimeline> {
  const timeline = new TimelineFold();
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  let count = 0;
  let number = 0;
  try {
    for await (const line of lines) {
      number += 1;
      const event = eventOf(line, `line ${number} of ${name}`);
      if (event === undefined) continue;
      timeline.add(event);
      count += 1;
    }
  } catch (cause) {
    if (EngineError.is(cause)) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError('USAGE', `Cannot read ${name}: ${why}`, { cause });
  } finally {
    stream.destroy();
  }
  if (count === 0)
    throw new EngineError('USAGE', `There are no events in ${name}; \`runnel run --events\` prints some.`);
  return timeline.timeline;
}

function eventOf(line: string, where: string): TimelineEvent | undefined {
  const text = line.startsWith('data:') ? line.slice(5).trim() : line.trim();
  if (text === '' || text === '[DONE]' || /^(?::|id:|event:|retry:)/.test(text)) return undefined;
  const wrong = (): EngineError => new EngineError('USAGE', `There is no event of a run in ${where}.`);
  if (text.length > MAX_LINE) throw wrong();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong();
  }
  if (!isJsonObject(value)) throw wrong();
  // The frame that RAGFlow ends a failed stream with says nothing that an event did not say.
  if (typeof value.code === 'number' && value.event === undefined) return undefined;
  if (!isEvent(value)) throw wrong();
  return value as unknown as TimelineEvent;
}

/** Whether it has what the fold looks at without asking. */
function isEvent(value: JsonObject): boolean {
  if (typeof value.event === 'string') return isJsonObject(value.data) && isCount(value.created_at);
  if (typeof value.type !== 'string' || !isCount(value.at) || !isCount(value.seq)) return false;
  if (value.type.startsWith('node-') && typeof value.node !== 'string') return false;
  if (value.type === 'node-delta') return typeof value.text === 'string';
  return value.type === 'node-failed' || value.type === 'run-failed' ? isJsonObject(value.error) : true;
}

function isCount(value: Json | undefined): boolean {
  return typeof value === 'number' && Number.isFinite(value);
}

async function fromServer(run: string, server: ServerAddress, signal: AbortSignal): Promise<RunTimeline> {
  const agents = server.agent === undefined ? await agentsOf(server, signal) : [server.agent];
  for (const agent of agents) {
    const found = await getJson(server, `/api/v1/agents/${encodeURIComponent(agent)}/runs/${run}/trace`, signal);
    const timeline = readTimelineView(found);
    if (timeline !== undefined) return timeline;
    if (found !== undefined) throw new EngineError('USAGE', `The server at ${server.url} shows runs in another way.`);
  }
  throw new EngineError('USAGE', `The server at ${server.url} has no run "${run}", or keeps its events no longer.`);
}

async function agentsOf(server: ServerAddress, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  for (let page = 1; ids.length < MAX_AGENTS; page += 1) {
    const found = await getJson(server, `/api/v1/agents?page=${page}&page_size=100`, signal);
    const canvases = Array.isArray(found?.canvas) ? found.canvas : [];
    for (const canvas of canvases) if (isJsonObject(canvas) && typeof canvas.id === 'string') ids.push(canvas.id);
    if (canvases.length < 100) break;
  }
  return ids;
}

/** `data` of an answer; undefined when the server has nothing to show. @throws EngineError USAGE when it cannot be asked. */
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
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError('USAGE', `Cannot reach the server at ${url}: ${why}`, { cause });
  }
}
