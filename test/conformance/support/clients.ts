/** Clients of a server that play one turn each: over an event stream, and over a WebSocket. */
import { on, once } from 'node:events';
import { createParser } from 'eventsource-parser';
import { WebSocket } from 'ws';
import type { WireEvent } from '../../../src/canvas/ragflow-events.js';
import type { JsonObject } from '../../../src/json.js';
import type { Stage } from './stage.js';

/** What a client says in one turn, in the words of a run request. */
export interface TurnRequest {
  readonly body: JsonObject;
  /** The conversation so far; absent in the first turn. */
  readonly sessionId: string | undefined;
  /** Whether the run before waits for this turn's answers. */
  readonly answersForm: boolean;
}

/** What a client got in one turn. */
export type TurnAnswer =
  | { readonly refusal: string }
  | { readonly events: readonly WireEvent[]; readonly sessionId: string; readonly failure?: string };

/** Plays one turn; `whenSeen` is asked at each event, before the next is read, whether the run is to be canceled. */
export type Client = (
  stage: Stage,
  request: TurnRequest,
  whenSeen: (event: WireEvent) => boolean,
) => Promise<TurnAnswer>;

/** A frame's JSON: an event, or RAGFlow's code-500 frame of a run that failed. */
type Payload = WireEvent | { readonly code: 500; readonly message: string; readonly session_id: string };

/** What one run showed, collected frame by frame; a frame that is out of order is an error. */
class Recording {
  readonly events: WireEvent[] = [];
  failure: string | undefined = undefined;
  sessionId = '';
  #lastSeq = 0;

  /** The event in a frame, if it holds one. */
  take(seq: number, payload: Payload): WireEvent | undefined {
    // Numbers are the engine's, of which RAGFlow's format leaves some out.
    if (seq <= this.#lastSeq) throw new Error(`frame ${seq} came after frame ${this.#lastSeq}`);
    if (this.failure !== undefined) throw new Error('a frame came after the one of the failure');
    this.#lastSeq = seq;
    this.sessionId = payload.session_id;
    if ('code' in payload) {
      this.failure = payload.message;
      return undefined;
    }
    this.events.push(payload);
    return payload;
  }

  end(): TurnAnswer {
    const { events, sessionId, failure } = this;
    return { events, sessionId, ...(failure === undefined ? {} : { failure }) };
  }
}

/** `POST /agents/{id}/stream`, read frame by frame with an independent parser; cancels with `POST /agents/{id}/cancel`. */
export const sseClient: Client = async ({ url, agent }, { body, sessionId }, whenSeen) => {
  const about = `${url}/api/v1/agents/${agent}`;
  const session = sessionId === undefined ? {} : { session_id: sessionId };
  const response = await postJson(`${about}/stream`, { ...body, ...session });
  if (response.headers.get('content-type') !== 'text/event-stream; charset=utf-8') {
    return { refusal: ((await response.json()) as { message: string }).message };
  }
  const recording = new Recording();
  let isDone = false;
  for await (const { id, data } of framesOf(response)) {
    if (isDone) throw new Error('a frame came after [DONE]');
    isDone = data === '[DONE]';
    if (isDone) continue;
    const event = recording.take(Number(id), JSON.parse(data) as Payload);
    if (event === undefined || !whenSeen(event)) continue;
    await (await postJson(`${about}/cancel`, { session_id: recording.sessionId })).json();
  }
  if (!isDone) throw new Error('the stream ended without [DONE]');
  return recording.end();
};

/** A WebSocket with `run`, `user_input` and `cancel` frames, until the `done` of the run. */
export const liveClient: Client = async ({ url, agent }, { body, sessionId, answersForm }, whenSeen) => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/agents/${agent}/live`, ['ragflow.agent.v1']);
  const messages = on(socket, 'message', { close: ['close'] });
  const closed = once(socket, 'close');
  await once(socket, 'open');
  const send = (frame: JsonObject): void => socket.send(JSON.stringify(frame));
  const session = sessionId === undefined ? {} : { session_id: sessionId };
  send({ ...body, ...session, type: answersForm ? 'user_input' : 'run' });
  const recording = new Recording();
  try {
    for await (const [data] of messages) {
      const frame = JSON.parse(String(data)) as LiveFrame;
      if (frame.type === 'error') return { refusal: frame.message };
      if (frame.type === 'done') return recording.end();
      if (frame.type !== 'event') continue;
      const event = recording.take(frame.seq, frame.event);
      if (event !== undefined && whenSeen(event)) send({ type: 'cancel', session_id: recording.sessionId });
    }
    throw new Error('the connection was closed before the run was done');
  } finally {
    socket.close();
    await closed;
  }
};

type LiveFrame =
  | { readonly type: 'event'; readonly seq: number; readonly event: Payload }
  | { readonly type: 'error'; readonly message: string }
  | { readonly type: 'ready' | 'accepted' | 'done' };

async function* framesOf(
  response: Response,
): AsyncGenerator<{ readonly id: string | undefined; readonly data: string }> {
  const frames: { id: string | undefined; data: string }[] = [];
  const parser = createParser({ onEvent: ({ id, data }) => frames.push({ id, data }) });
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* frames.splice(0);
  }
}

function postJson(url: string, body: JsonObject): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
