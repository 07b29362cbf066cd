import { BehaviorSubject, Subject, Subscription } from 'rxjs';
import { toChatFrame } from '../../chat/chat-frames.js';
import { EngineError } from '../../errors.js';
import { checkId } from '../../hosting/ids.js';
import { quietFor } from '../../hosting/liveness.js';
import { foreignRun, noRun, noSession } from '../../hosting/refusals.js';
import type { StartedTurn } from '../../hosting/start.js';
import type { TurnTarget } from '../../hosting/start-command.js';
import type { RunIdentity, RunRecord } from '../../records/runs.js';
import type { TokenBucket } from '../access/rate-limits.js';
import { readChat } from '../chat/chat-input.js';
import { chatRunInfo, findChatRun, startChat } from '../chat/start-chat.js';
import { readForkChange, readTurn } from '../runs/read-turn.js';
import { sayToRun } from '../runs/run-inputs.js';
import type { ServerParts } from '../server-parts.js';
import type { ClientFrame, RequestId } from './client-frames.js';
import { EventBatch } from './event-batch.js';
import {
  AGENT_VIEWS,
  BATCH_WINDOW,
  doneFrame,
  errorFrame,
  eventFields,
  eventFrame,
  LEAN_VIEW,
  type LiveView,
  type ServerFrame,
  WINDOW,
} from './server-frames.js';

/** Runs that one connection may follow at once. */
const MAX_RUNS = 4;

/** How long an answer to a cancel waits for the end of the run. */
const CANCEL_PATIENCE_MS = 5_000;

type Frame<T extends ClientFrame['type']> = Extract<ClientFrame, { readonly type: T }>;

/** What {@link LiveRuns} needs of its connection. */
export interface LiveRunsOptions {
  readonly parts: ServerParts;
  /** The agent whose runs they are; undefined: those of all chats of the tenant. */
  readonly agentId: string | undefined;
  readonly tenant: string;
  /** Limits how often runs of the agent are started. */
  readonly runRate: TokenBucket | undefined;
  /** Whether the socket takes more. */
  readonly canSend: () => boolean;
  /** Sends a frame, or the text of one. */
  readonly send: (frame: ServerFrame | string) => void;
  /** Called when the client is too slow, with the number of the last event that it was sent. */
  readonly whenSlow: (lastSeq: number) => void;
  /** Called with the number of runs that are followed, whenever it changes. */
  readonly whenChanged: (count: number) => void;
}

/** The runs of one connection: starts, follows and stops them on behalf of its client. */
export class LiveRuns {
  readonly #options: LiveRunsOptions;
  readonly #followers = new Map<string, RunFollower>();
  readonly #stopped = new Subject<void>();
  #isStopped = false;

  constructor(options: LiveRunsOptions) {
    this.#options = options;
  }

  /** How many are followed. */
  get size(): number {
    return this.#followers.size;
  }

  /** @throws EngineError as `startTurn`; LIMIT_REACHED. */
  async run(frame: Frame<'run'>, req: RequestId): Promise<void> {
    // Browsers cannot set headers of a WebSocket; a frame names its trace by fields of the same names.
    const { parts } = this.#options;
    await this.#start((target) => parts.startTurn(target, readTurn(frame, frame)), req, AGENT_VIEWS[frame.view]);
  }

  /** Starts a run from an event of another one. @throws EngineError as `forkRun`; LIMIT_REACHED. */
  async fork(frame: Frame<'fork'>, req: RequestId): Promise<void> {
    const { run_id, at, view } = frame;
    const { parts } = this.#options;
    const point = { run: checkId('run_id', run_id), ...(at === undefined ? {} : { at }), ...readForkChange(frame) };
    const turn = () => readTurn(frame, frame);
    await this.#start((target) => parts.forkRun(target, point, turn()), req, AGENT_VIEWS[view]);
  }

  /** @throws EngineError as `startTurn`; NOT_FOUND when the session waits for nothing. */
  async answer(frame: Frame<'user_input'>, req: RequestId): Promise<void> {
    const answer = { ...readTurn(frame, frame), answersForm: true };
    await this.#start((target) => this.#options.parts.startTurn(target, answer), req, AGENT_VIEWS[frame.view]);
  }

  /** Asks a chat. @throws EngineError as `startChat`; LIMIT_REACHED. */
  async ask(frame: Frame<'ask'>, req: RequestId): Promise<void> {
    const { parts, tenant } = this.#options;
    this.#requireRoom();
    const { live } = await startChat(parts, tenant, readChat(frame, frame), this.#stopped);
    this.#accept(live.identity, req, this.#chatView(live.identity));
  }

  /** Leaves a run. @throws EngineError NOT_FOUND when it is not followed. */
  detach({ run_id: run }: Frame<'detach'>, req: RequestId): void {
    const follower = this.#followers.get(run);
    if (follower === undefined) throw noRun();
    this.#unfollow(run);
    this.#options.send({ type: 'detached', req, run_id: run, seq: follower.lastSeq });
  }

  /** Answers with the events that the client does not have, then those that come. @throws EngineError NOT_FOUND, FORBIDDEN. */
  async attach(frame: Frame<'attach'>, req: RequestId): Promise<void> {
    const { run_id: run, last_event_id: after, view, batch, lean } = frame;
    const record = await this.#find(run);
    if (!this.#followers.has(run)) this.#requireRoom();
    this.#unfollow(run);
    this.#options.send({ type: 'attached', req, run_id: run, from_seq: after + 1, status: record.status });
    const isChat = this.#options.agentId === undefined && view !== 'engine';
    const ownView = view === 'engine' && lean ? LEAN_VIEW : AGENT_VIEWS[view];
    const shown = isChat ? this.#chatView(record) : ownView;
    this.#follow({ run, after, view: shown, isBatched: batch });
  }

  /** Says something to the agents of a run. @throws EngineError NOT_FOUND, FORBIDDEN, CONFLICT, LIMIT_REACHED. */
  async say({ run_id, content, id, to }: Frame<'input'>, req: RequestId): Promise<void> {
    const { parts, tenant, send } = this.#options;
    const kept = await sayToRun(parts, tenant, await this.#find(run_id), { content, id, to });
    send({ type: 'kept', req, run_id, id: kept.id });
  }

  /** Stops a run; the answer is its `done`, also when it was over before. @throws EngineError NOT_FOUND, FORBIDDEN. */
  async cancel({ run_id, session_id }: Frame<'cancel'>): Promise<void> {
    const { parts, tenant } = this.#options;
    const record = await this.#find(run_id ?? (await this.#lastRunOf(session_id ?? '')));
    await parts.host.cancel(tenant, { run: record.id });
    if (this.#followers.has(record.id)) return;
    await parts.host.whenOver(tenant, record.id, CANCEL_PATIENCE_MS);
    const ended = (await parts.host.record(tenant, record.id)) ?? record;
    this.#options.send(doneFrame(ended, ended.lastSeq));
  }

  acknowledge(run: string, seq: number): void {
    this.#followers.get(run)?.acknowledge(seq);
  }

  /** Looks again whether the client takes more. */
  refresh(): void {
    for (const follower of this.#followers.values()) follower.refresh();
  }

  /** Ends the following; the runs continue. */
  stop(): void {
    this.#isStopped = true;
    this.#stopped.next();
    for (const follower of this.#followers.values()) follower.stop();
    this.#followers.clear();
  }

  async #start(start: (target: TurnTarget) => Promise<StartedTurn>, req: RequestId, view: LiveView): Promise<void> {
    const { parts, tenant, agentId = '', runRate } = this.#options;
    this.#requireRoom();
    if (runRate?.take() === false) {
      const { runsPerMinute } = parts.config;
      throw new EngineError('LIMIT_REACHED', `At most ${runsPerMinute} runs a minute may be started on a connection.`);
    }
    const { live } = await start({ tenant, agentId, fallback: 'published' });
    this.#accept(live.identity, req, view);
  }

  #accept({ id, sessionId, messageId }: RunIdentity, req: RequestId, view: LiveView): void {
    this.#options.send({ type: 'accepted', req, run_id: id, session_id: sessionId, message_id: messageId });
    this.#follow({ run: id, after: 0, view, isBatched: false });
  }

  #chatView(run: Pick<RunIdentity, 'id' | 'agentId' | 'sessionId'>): LiveView {
    const about = chatRunInfo(this.#options.tenant, run);
    return { isExact: false, show: ({ source }) => toChatFrame(source, about) };
  }

  #follow(what: Pick<Following, 'run' | 'after' | 'view' | 'isBatched'>): void {
    const { run } = what;
    // The client went away while its run was being started; the following would never end.
    if (this.#isStopped) return;
    const follower = new RunFollower(this.#options, {
      ...what,
      whenDone: (lastSeq) => this.#attempt(run, this.#done(run, lastSeq)),
      whenFailed: (error, lastSeq) => this.#attempt(run, this.#failed(run, error, lastSeq)),
    });
    this.#followers.set(run, follower);
    this.#changed();
    follower.start();
  }

  #unfollow(run: string): void {
    this.#followers.get(run)?.stop();
    this.#followers.delete(run);
    this.#changed();
  }

  /** A store that fails here leaves the client with an error instead of an end. */
  #attempt(run: string, work: Promise<void>): void {
    work.catch((error: unknown) => {
      this.#options.parts.logger.error({ run, err: error }, 'the end of a run could not be sent');
      this.#options.send(errorFrame(error, { run_id: run }));
      this.#unfollow(run);
    });
  }

  async #done(run: string, lastSeq: number): Promise<void> {
    const { parts, tenant, send } = this.#options;
    const record = await parts.host.record(tenant, run);
    if (record !== undefined) send(doneFrame(record, lastSeq));
    this.#unfollow(run);
  }

  async #failed(run: string, error: unknown, lastSeq: number): Promise<void> {
    const { parts, tenant, send, whenSlow } = this.#options;
    const code = EngineError.is(error) ? error.code : 'INTERNAL';
    if (code === 'LIMIT_REACHED') {
      whenSlow(lastSeq);
      return;
    }
    const record = await parts.host.record(tenant, run);
    if (record !== undefined && code === 'NOT_FOUND') await this.#bridgeGap(record, lastSeq);
    else send(errorFrame(error, { run_id: run }));
    this.#unfollow(run);
  }

  /** The events are gone; what they came to is not. */
  async #bridgeGap(record: RunRecord, lastSeq: number): Promise<void> {
    const { parts, tenant, send } = this.#options;
    const session = await parts.stores.sessions.find(tenant, record.sessionId);
    const answers = session?.messages.filter(({ role }) => role === 'assistant') ?? [];
    const at = answers.findIndex(({ id }) => id === record.messageId);
    // Both lists end with the newest answer, whatever was forgotten before.
    const reference = at < 0 ? {} : (session?.references.at(at - answers.length) ?? {});
    const { id: run_id, status, pending: pending_inputs = null, lastSeq: missing_to } = record;
    if (lastSeq < missing_to) send({ type: 'gap', run_id, missing_from: lastSeq + 1, missing_to });
    const content = answers[at]?.content ?? '';
    send({ type: 'snapshot', run_id, content, reference, pending_inputs, status });
    send(doneFrame(record, record.lastSeq));
  }

  #changed(): void {
    this.#options.whenChanged(this.#followers.size);
  }

  /** @throws EngineError NOT_FOUND, FORBIDDEN. */
  async #find(run: string): Promise<RunRecord> {
    const { parts, tenant, agentId } = this.#options;
    checkId('run_id', run);
    if (agentId === undefined) return findChatRun(parts, tenant, run);
    const record = await parts.host.record(tenant, run);
    if (record === undefined) throw noRun();
    if (record.agentId !== agentId) throw foreignRun();
    return record;
  }

  async #lastRunOf(sessionId: string): Promise<string> {
    const { parts, tenant } = this.#options;
    const session = await parts.stores.sessions.find(tenant, checkId('session_id', sessionId));
    if (session === undefined) throw noSession();
    if (session.lastRun === undefined) throw noRun();
    return session.lastRun;
  }

  #requireRoom(): void {
    if (this.#followers.size < MAX_RUNS) return;
    throw new EngineError('LIMIT_REACHED', `At most ${MAX_RUNS} runs may be followed on a connection at once.`);
  }
}

/** Which run a {@link RunFollower} follows. */
interface Following {
  readonly run: string;
  /** Number of the last event that the client has. */
  readonly after: number;
  readonly view: LiveView;
  /** Whether events that come together leave in one frame. */
  readonly isBatched: boolean;
  /** Called once after the last event. */
  readonly whenDone: (lastSeq: number) => void;
  /** Called once when following is not possible any more. */
  readonly whenFailed: (error: unknown, lastSeq: number) => void;
}

/** One run on one connection: sends its events as fast as the socket and the client's acknowledgements allow. */
class RunFollower {
  readonly #options: LiveRunsOptions;
  readonly #following: Following;
  readonly #isReady = new BehaviorSubject(true);
  readonly #subscription = new Subscription();
  readonly #batch: EventBatch | undefined;
  readonly #window: number;
  /** Number of the last event that was sent. */
  lastSeq: number;
  /** Numbers of the events that were sent and not acknowledged, at most the window, the newest. */
  #inFlight: number[] = [];
  /** For a client that never acknowledges only the socket counts. */
  #hasAcknowledged = false;

  constructor(options: LiveRunsOptions, following: Following) {
    this.#options = options;
    this.#following = following;
    this.lastSeq = following.after;
    this.#window = following.isBatched ? BATCH_WINDOW : WINDOW;
    if (following.isBatched) this.#batch = new EventBatch(following.run, options.send);
  }

  start(): void {
    const { parts, tenant, whenSlow } = this.#options;
    const { run, after, view, whenDone, whenFailed } = this.#following;
    const { isExact, isLean = false } = view;
    const ready$ = this.#isReady.asObservable();
    this.#subscription.add(quietFor(ready$, parts.config.slowClientMs).subscribe(() => whenSlow(this.lastSeq)));
    this.refresh();
    this.#subscription.add(
      parts.host.follow(tenant, run, { after, ready$, isExact, isLean }).subscribe({
        next: (frame) => {
          this.lastSeq = frame.seq;
          const fields = eventFields(frame, view);
          if (fields === undefined) return;
          this.#inFlight.push(frame.seq);
          // Rarely, so that a client that never acknowledges costs nothing.
          if (this.#inFlight.length >= 2 * this.#window) this.#inFlight = this.#inFlight.slice(-this.#window);
          if (this.#batch === undefined) this.#options.send(eventFrame(run, fields));
          else this.#batch.add(fields);
          this.refresh();
        },
        error: (error: unknown) => {
          this.stop();
          whenFailed(error, this.lastSeq);
        },
        complete: () => {
          this.stop();
          whenDone(this.lastSeq);
        },
      }),
    );
  }

  /** Looks again whether the client takes more. */
  refresh(): void {
    const isBehind = this.#hasAcknowledged && this.#inFlight.length >= this.#window;
    const isReady = !isBehind && this.#options.canSend();
    if (isReady !== this.#isReady.value) this.#isReady.next(isReady);
  }

  /** The client has everything up to `seq`. */
  acknowledge(seq: number): void {
    this.#hasAcknowledged = true;
    const at = this.#inFlight.findIndex((sent) => sent > seq);
    this.#inFlight = at < 0 ? [] : this.#inFlight.slice(at);
    this.refresh();
  }

  stop(): void {
    this.#subscription.unsubscribe();
    this.#batch?.flush();
  }
}
