/** A client that follows a run through crashes of its server: it connects again and asks for what it has not seen. */
import { setTimeout as pause } from 'node:timers/promises';

/** An event as it came. */
export interface SeenEvent {
  readonly id: number;
  /** The data line, byte for byte. */
  readonly data: string;
}

export interface Follower {
  readonly run: string;
  /** Events so far, in the order in which they came. */
  readonly seen: readonly SeenEvent[];
  /** Resolves after `[DONE]`. */
  readonly done: Promise<void>;
}

/** How long to wait before connecting again. */
const PAUSE_MS = 50;

/** Starts a run and follows it; undefined when the server went away before it said which run it is, with the reason for `whenGone`. */
export async function startRun(
  urlNow: () => string,
  agent: string,
  whenGone: (reason: unknown) => void = () => {},
): Promise<Follower | undefined> {
  let response: Response;
  try {
    response = await fetch(`${urlNow()}/api/v1/agents/${agent}/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'x' }),
    });
  } catch (error) {
    whenGone(error);
    return undefined;
  }
  const run = response.headers.get('x-run-id');
  if (run === null) throw new Error(await response.text());
  const seen: SeenEvent[] = [];
  return { run, seen, done: followToEnd(urlNow, agent, run, seen, response) };
}

/** Follows a run that is there already, in RAGFlow's format or with the engine's own events. */
export function attach(urlNow: () => string, agent: string, run: string, view?: 'engine'): Follower {
  const seen: SeenEvent[] = [];
  return { run, seen, done: followToEnd(urlNow, agent, run, seen, undefined, view) };
}

/** The numbers of all events of a run that has ended: 1, 2, 3 … when none is lost or stored twice. */
export async function storedNumbers(urlNow: () => string, agent: string, run: string): Promise<readonly number[]> {
  const stored = attach(urlNow, agent, run, 'engine');
  await stored.done;
  return stored.seen.map(({ id }) => id);
}

async function followToEnd(
  urlNow: () => string,
  agent: string,
  run: string,
  seen: SeenEvent[],
  first: Response | undefined,
  view?: 'engine',
): Promise<void> {
  let response = first;
  for (;;) {
    try {
      response ??= await fetch(
        `${urlNow()}/api/v1/agents/${agent}/runs/${run}/events${view === undefined ? '' : `?view=${view}`}`,
        {
          headers: { 'last-event-id': String(seen.at(-1)?.id ?? 0) },
        },
      );
      if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
        throw new Refused(`Run ${run}: ${await response.text()}`);
      }
      if (await readStream(response, seen)) return;
    } catch (error) {
      if (error instanceof Refused) throw error;
    }
    response = undefined;
    await pause(PAUSE_MS);
  }
}

class Refused extends Error {}

/** Gives whether the stream came to its end. */
async function readStream(response: Response, seen: SeenEvent[]): Promise<boolean> {
  let unread = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    unread += decoder.decode(chunk, { stream: true });
    const blocks = unread.split('\n\n');
    unread = blocks.pop() as string;
    for (const block of blocks) {
      const lines = block.split('\n');
      const data = lines.find((line) => line.startsWith('data:'))?.slice(5);
      const id = lines.find((line) => line.startsWith('id:'))?.slice(3);
      if (data === '[DONE]') return true;
      if (data !== undefined && id !== undefined) seen.push({ id: Number(id), data });
    }
  }
  return false;
}

/** A node that an event tells of. */
export interface SeenNode {
  readonly component: string;
  readonly within: string | undefined;
}

/** The nodes in events of that name. */
export function nodesIn(seen: readonly SeenEvent[], name: string): SeenNode[] {
  return seen.flatMap(({ data }) => {
    const { event, data: said } = JSON.parse(data);
    return event === name ? [{ component: said.component_id, within: said.within }] : [];
  });
}

/** The text that a client shows: without what was taken back. */
export function textShown(seen: readonly SeenEvent[]): string {
  return textsShown(seen).get('') ?? '';
}

/** The same by the round of a body that said it; `''` is what was said outside of bodies. */
export function textsShown(seen: readonly SeenEvent[]): ReadonlyMap<string, string> {
  let pieces: (SeenNode & { readonly id: number; readonly content: string })[] = [];
  for (const { id, data } of seen) {
    const { event, data: said } = JSON.parse(data);
    const { component_id: component, within } = said || {};
    if (event === 'message') pieces.push({ id, component, within, content: said.content });
    if (event === 'node_restarted') {
      pieces = pieces.filter(
        (piece) => piece.component !== component || piece.within !== within || piece.id < said.retract_from,
      );
    }
  }
  const texts = new Map<string, string>();
  for (const { within = '', content } of pieces) texts.set(within, (texts.get(within) ?? '') + content);
  return texts;
}
