import type { Socket } from 'node:net';
import { BehaviorSubject, concatMap, filter, race, Subject, Subscription, take, timer } from 'rxjs';
import type { RawData, WebSocket } from 'ws';
import { EngineError } from '../../errors.js';
import { createId } from '../../hosting/ids.js';
import { heartbeat, quietFor } from '../../hosting/liveness.js';
import type { JsonObject } from '../../json.js';
import { isAssistant } from '../../records/agents.js';
import type { Origin } from '../access/client-address.js';
import { TokenBucket } from '../access/rate-limits.js';
import type { ServerParts } from '../server-parts.js';
import {
  type ClientFrame,
  type LiveKind,
  parseFrame,
  type RequestId,
  readFrame,
  requestIdOf,
} from './client-frames.js';
import { LiveRuns } from './live-runs.js';
import { CLOSE, errorFrame, RESUME_TTL_SECONDS, type ServerFrame, WINDOW } from './server-frames.js';

/** Bytes that may wait in the socket before events are held back, and nothing more is read that asks for answers. */
const SOCKET_BYTES = 1024 * 1024;

/** Frames of the client that may wait to be handled before its socket is not read any more. */
const MAX_PENDING_FRAMES = 64;

/** Frames that are refused for coming too fast before the connection is closed. */
const MAX_STRIKES = 20;

const AUTH_TIMEOUT_MS = 5_000;

export interface LiveConnectionOptions {
  readonly parts: ServerParts;
  /** The request that became the connection: it says where the client is. */
  readonly request: Origin;
  /** What the WebSocket writes to. */
  readonly socket: Socket;
  readonly kind: LiveKind;
  /** Undefined on connections that are for no agent. */
  readonly agentId: string | undefined;
  /** Undefined until the client has said who it is. */
  readonly tenant: string | undefined;
}

/** Takes a place among the connections of a tenant, for as long as the socket is open; false when there is none for it. */
export function placeConnection({ shares, strangers }: ServerParts, tenant: string, socket: Socket): boolean {
  if (!shares.webSockets.hasRoom(tenant)) return false;
  const giveBack = shares.webSockets.take(tenant);
  strangers.admit(socket);
  socket.once('close', giveBack);
  // It may have been closed meanwhile, and is not closed twice.
  if (socket.closed) giveBack();
  return true;
}

/** Whether an agent is there that has connections of its own; chats share one address. */
export async function hasAgent({ stores }: ServerParts, tenant: string, agentId: string): Promise<boolean> {
  const agent = await stores.agents.find(tenant, agentId);
  return agent !== undefined && !isAssistant(agent);
}

/**
 * One WebSocket of a client: checks and orders its frames, keeps it alive, ends it. What runs on it is in {@link LiveRuns}; one for the list of
 * runs carries none, and says when the list may have changed.
 */
export class LiveConnection {
  readonly #socket: WebSocket;
  readonly #options: LiveConnectionOptions;
  readonly #subscription = new Subscription();
  readonly #frames = new Subject<JsonObject>();
  readonly #signs = new Subject<void>();
  readonly #busy = new BehaviorSubject(false);
  readonly #frameRate: TokenBucket | undefined;
  readonly #runRate: TokenBucket | undefined;
  #authTimer: Subscription | undefined = undefined;
  #isAdmitted = false;
  /** Undefined on connections that carry no runs. */
  #runs: LiveRuns | undefined = undefined;
  #pendingFrames = 0;
  #isCorked = false;
  #strikes = 0;

  constructor(socket: WebSocket, options: LiveConnectionOptions) {
    const { callers, config, now } = options.parts;
    this.#socket = socket;
    this.#options = options;
    // Without keys there are no limits of frequency.
    this.#frameRate = callers.hasKeys ? new TokenBucket(config.framesPerSecond, 1_000, now) : undefined;
    this.#runRate = callers.hasKeys ? new TokenBucket(config.runsPerMinute, 60_000, now) : undefined;
  }

  /** How many runs its client follows. */
  get following(): number {
    return this.#runs?.size ?? 0;
  }

  start(): void {
    const socket = this.#socket;
    const { config } = this.#options.parts;
    socket.on('message', (data, isBinary) => this.#received(data, isBinary));
    socket.on('pong', () => this.#signs.next());
    // `ws` closes by itself after an error, such as a frame that is too large.
    socket.on('error', () => {});
    socket.once('close', () => this.#ended());
    this.#subscription.add(this.#frames.pipe(concatMap((frame) => this.#handle(frame))).subscribe());
    this.#subscription.add(
      heartbeat(this.#signs, config.heartbeatMs).subscribe((beat) => {
        if (beat === 'ping') socket.ping();
        else this.close(CLOSE.goingAway, 'no sign of life');
      }),
    );
    const { tenant, kind } = this.#options;
    // A list says nothing, and is looked at all the same.
    if (kind !== 'runs') {
      this.#subscription.add(quietFor(this.#busy, config.idleMs).subscribe(() => this.close(CLOSE.normal, 'idle')));
    }
    if (tenant !== undefined) this.#admit(tenant);
    else this.#authTimer = timer(AUTH_TIMEOUT_MS).subscribe(() => this.close(CLOSE.authTimeout, 'no auth frame came'));
  }

  close(code: number, reason: string): void {
    // A reason may have 123 bytes.
    this.#socket.close(code, reason.slice(0, 120));
    this.#ended();
  }

  /** Closes when no run is followed any more, at the latest after `patienceMs`. */
  closeWhenQuiet(code: number, reason: string, patienceMs: number): void {
    const quiet$ = race(this.#busy.pipe(filter((isBusy) => !isBusy)), timer(patienceMs));
    this.#subscription.add(quiet$.pipe(take(1)).subscribe(() => this.close(code, reason)));
  }

  #admit(tenant: string): void {
    const { parts, agentId, kind } = this.#options;
    this.#authTimer?.unsubscribe();
    this.#isAdmitted = true;
    if (kind !== 'runs') this.#runs = this.#openRuns(tenant);
    this.#send({
      type: 'ready',
      connection_id: createId(),
      ...(agentId !== undefined && { agent_id: agentId }),
      heartbeat_s: parts.config.heartbeatMs / 1000,
      window: WINDOW,
      resume_ttl_s: RESUME_TTL_SECONDS,
    });
    if (kind === 'runs') this.#watchRuns(tenant);
  }

  #openRuns(tenant: string): LiveRuns {
    const { parts, agentId } = this.#options;
    return new LiveRuns({
      parts,
      agentId,
      tenant,
      runRate: this.#runRate,
      canSend: () => this.#socket.bufferedAmount <= SOCKET_BYTES,
      send: (frame) => this.#send(frame),
      whenSlow: (seq) => this.close(CLOSE.tooSlow, `too slow; resume from seq ${seq}`),
      whenChanged: (count) => this.#busy.next(count > 0),
    });
  }

  /** At most two frames a second, so one that reads none of them is taken for lost before they are many. */
  #watchRuns(tenant: string): void {
    const { host, logger } = this.#options.parts;
    this.#subscription.add(
      host.runChanges(tenant).subscribe({
        next: () => this.#send({ type: 'runs' }),
        error: (error: unknown) => {
          logger.error({ err: error }, 'changes of runs are not received');
          this.close(CLOSE.internal, 'changes of runs are not received');
        },
      }),
    );
  }

  #ended(): void {
    this.#subscription.unsubscribe();
    this.#authTimer?.unsubscribe();
    this.#runs?.stop();
  }

  #received(data: RawData, isBinary: boolean): void {
    this.#signs.next();
    if (isBinary) {
      this.close(CLOSE.badFrame, 'frames must be text');
      return;
    }
    const frame = parseFrame(String(data));
    if (frame === undefined) {
      this.close(CLOSE.badFrame, 'frames must be JSON objects');
      return;
    }
    // Acknowledgements are flow control: they come as fast as events do.
    if (frame.type !== 'ack' && this.#frameRate?.take() === false) {
      this.#tooFast(frame);
      return;
    }
    this.#busy.next(this.#busy.value);
    this.#pendingFrames += 1;
    this.#frames.next(frame);
    this.#regulate();
  }

  #tooFast(frame: JsonObject): void {
    this.#strikes += 1;
    if (this.#strikes > MAX_STRIKES) {
      this.close(CLOSE.tooSlow, 'too many frames');
      return;
    }
    const { framesPerSecond } = this.#options.parts.config;
    const error = new EngineError('LIMIT_REACHED', `At most ${framesPerSecond} frames a second are taken.`);
    this.#send(errorFrame(error, { req: requestIdOf(frame) }));
  }

  async #handle(value: JsonObject): Promise<void> {
    const req = requestIdOf(value);
    try {
      await this.#obey(readFrame(value, this.#options.kind), req);
    } catch (error) {
      if (!EngineError.is(error)) this.#options.parts.logger.error({ err: error }, 'a live frame crashed');
      this.#send(errorFrame(error, { req }));
    } finally {
      this.#pendingFrames -= 1;
      this.#regulate();
    }
  }

  /** Reads no further while too much waits: frames to be handled, or answers that the client does not read. */
  #regulate(): void {
    const socket = this.#socket;
    const isFull = this.#pendingFrames >= MAX_PENDING_FRAMES || socket.bufferedAmount > SOCKET_BYTES;
    if (isFull) socket.pause();
    else if (socket.isPaused) socket.resume();
  }

  async #obey(frame: ClientFrame, req: RequestId): Promise<void> {
    if (frame.type === 'auth') return this.#authenticate(frame.token);
    if (frame.type === 'close') return this.close(CLOSE.normal, 'as asked');
    if (!this.#isAdmitted) return this.close(CLOSE.unauthenticated, 'the first frame must be auth');
    if (frame.type === 'ping') {
      return this.#send({ type: 'pong', t: frame.t, server_time: this.#options.parts.now() });
    }
    const runs = this.#runs;
    if (runs === undefined) return undefined;
    switch (frame.type) {
      case 'run':
        return runs.run(frame, req);
      case 'fork':
        return runs.fork(frame, req);
      case 'user_input':
        return runs.answer(frame, req);
      case 'ask':
        return runs.ask(frame, req);
      case 'detach':
        return runs.detach(frame, req);
      case 'input':
        return runs.say(frame, req);
      case 'cancel':
        return runs.cancel(frame);
      case 'attach':
        return runs.attach(frame, req);
      case 'ack':
        return runs.acknowledge(frame.run_id, frame.seq);
    }
  }

  async #authenticate(token: string): Promise<void> {
    const { parts, agentId } = this.#options;
    if (this.#isAdmitted) return;
    const tenant = await this.#tenantOf(token);
    if (tenant === undefined) {
      this.close(CLOSE.unauthenticated, 'Invalid access token');
    } else if (agentId !== undefined && !(await hasAgent(parts, tenant, agentId))) {
      this.close(CLOSE.noAgent, 'no such agent');
    } else if (placeConnection(parts, tenant, this.#options.socket)) {
      this.#admit(tenant);
    } else {
      this.close(CLOSE.tryLater, parts.shares.webSockets.refusal(tenant, 'connections'));
    }
  }

  /** Undefined also for what is not looked up any more, because too many wrong keys came from the client's address. */
  async #tenantOf(token: string): Promise<string | undefined> {
    const { request, parts } = this.#options;
    try {
      return (await parts.callers.find(request, token))?.tenant;
    } catch (error) {
      if (EngineError.is(error) && error.code === 'LIMIT_REACHED') return undefined;
      throw error;
    }
  }

  #send(frame: ServerFrame | string): void {
    const socket = this.#socket;
    if (socket.readyState !== socket.OPEN) return;
    if (!this.#isCorked) {
      // What comes in one go is written in one go: a write to a socket costs as much as many frames.
      this.#isCorked = true;
      this.#options.socket.cork();
      queueMicrotask(this.#uncork);
    }
    socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame), this.#sent);
  }

  readonly #uncork = (): void => {
    this.#isCorked = false;
    this.#options.socket.uncork();
  };

  readonly #sent = (): void => {
    this.#regulate();
    this.#runs?.refresh();
  };
}
