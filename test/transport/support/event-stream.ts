import type { JsonObject } from '../../../src/json.js';

/** One frame of an event stream. */
export interface Frame {
  readonly id: number | undefined;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events freely
  readonly json: any;
}

/** A client of an event stream that reads as it is told. */
export interface StreamClient {
  readonly status: number;
  readonly headers: Headers;
  /** The next frame, comments left out; undefined at the end. */
  next(): Promise<Frame | undefined>;
  /** Frames up to and with the first that fits. */
  until(fits: (frame: Frame) => boolean): Promise<Frame[]>;
  /** All frames to the end. */
  rest(): Promise<Frame[]>;
  /** Everything that was read, as it came. */
  readonly raw: string;
  /** Goes away without reading on. */
  leave(): Promise<void>;
}

export async function openStream(
  url: string,
  options: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<StreamClient> {
  const { body, headers = {}, method = body === undefined ? 'GET' : 'POST' } = options;
  const controller = new AbortController();
  const response = await fetch(url, {
    method,
    signal: controller.signal,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) throw new Error(await response.text());
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let raw = '';
  let unread = '';
  const next = async (): Promise<Frame | undefined> => {
    for (;;) {
      const end = unread.indexOf('\n\n');
      if (end >= 0) {
        const block = unread.slice(0, end);
        unread = unread.slice(end + 2);
        if (!block.startsWith(':')) return frameOf(block);
        continue;
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      const text = decoder.decode(value, { stream: true });
      raw += text;
      unread += text;
    }
  };
  const until = async (fits: (frame: Frame) => boolean): Promise<Frame[]> => {
    const frames: Frame[] = [];
    for (let frame = await next(); frame !== undefined; frame = await next()) {
      frames.push(frame);
      if (fits(frame)) break;
    }
    return frames;
  };
  return {
    status: response.status,
    headers: response.headers,
    next,
    until,
    rest: () => until(() => false),
    get raw() {
      return raw;
    },
    leave: async () => {
      controller.abort();
      await reader.cancel().catch(() => {});
    },
  };
}

function frameOf(block: string): Frame {
  const lines = block.split('\n');
  const id = lines.find((line) => line.startsWith('id:'))?.slice(3);
  const text = lines.find((line) => line.startsWith('data:'))?.slice(5) ?? '';
  return {
    id: id === undefined ? undefined : Number(id),
    text,
    json: text.trim() === '[DONE]' ? undefined : JSON.parse(text),
  };
}

/** Names of events, `500` for the failure frame, `[DONE]` for the end mark. */
export function namesOf(frames: readonly Frame[]): string[] {
  return frames.map(({ text, json }) => json?.event ?? (json?.code === undefined ? text : String(json.code)));
}

/** The engine's events of a run that is over. */
export async function engineEvents(url: string, agent: string, run: string): Promise<readonly JsonObject[]> {
  const stream = await openStream(`${url}/api/v1/agents/${agent}/runs/${run}/events?view=engine`);
  return (await stream.rest()).flatMap(({ id, json }) => (id === undefined ? [] : [json as JsonObject]));
}
