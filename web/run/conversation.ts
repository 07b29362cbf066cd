/** The owner of a conversation on a screen: its turns, the runs among them that are followed, and what is being sent. */
import { BehaviorSubject, type Observable } from 'rxjs';
import type { DescribedNode } from '../../src/canvas/picture/picture.js';
import type { ConversationServer } from './conversation-server.js';
import type { RunStore } from './run-store.js';
import type { TurnInput } from './start-turn.js';
import { chainOf, type Turn, turnsOf } from './turns.js';

/** A conversation as a screen shows it. */
export interface ConversationState {
  /** Undefined before the first turn. */
  readonly session?: string;
  readonly turns: readonly Turn[];
  /** The conversation that it goes on from. */
  readonly origin?: string;
  /** What the server has not taken yet. */
  readonly sending?: TurnInput;
  readonly isLoading: boolean;
  /** Why it could not be loaded, or why what was sent last was not taken. */
  readonly error?: unknown;
}

/** What is done before a turn is sent, such as saving the draft that it runs. */
export type Preparation = () => Promise<void>;

const EMPTY_STATE: ConversationState = { turns: [], isLoading: false };

export class Conversation {
  readonly #server: ConversationServer;
  readonly #state = new BehaviorSubject(EMPTY_STATE);
  #prepare: Preparation = async () => {};
  #nodes: readonly DescribedNode[];
  /** The run that an address names: followed while it is found out where it belongs. */
  #ahead: RunStore | undefined = undefined;
  /** Raised with each conversation that is shown: what comes for an earlier one is dropped. */
  #shown = 0;
  /** Until what is shown was loaded, or could not be. */
  #loading = Promise.resolve();

  /** @param nodes those of the document, as it was loaded */
  constructor(server: ConversationServer, nodes: readonly DescribedNode[] = []) {
    this.#server = server;
    this.#nodes = nodes;
  }

  get state$(): Observable<ConversationState> {
    return this.#state;
  }

  get state(): ConversationState {
    return this.#state.value;
  }

  /** Says what is done before each turn that is sent. */
  prepareWith(prepare: Preparation): void {
    this.#prepare = prepare;
  }

  /** Says which nodes the document has now: runs that are followed from here on show them. */
  describe(nodes: readonly DescribedNode[]): void {
    this.#nodes = nodes;
  }

  /** Shows what an address names; keeps what is shown already. */
  async show({ run, session }: { readonly run?: string; readonly session?: string }): Promise<void> {
    const { turns, session: shown } = this.state;
    if (run !== undefined && turns.some((turn) => turn.run === run)) return this.follow(run);
    if (session !== undefined && session === shown) return;
    this.clear();
    if (run === undefined && session === undefined) return;
    this.#change({ isLoading: true });
    const ahead = run === undefined ? undefined : this.#opened(run);
    this.#ahead = ahead;
    this.#loading = this.#during(async (change) => {
      const sessionId = session ?? (await this.#server.readRun(run ?? '')).session_id;
      const { detail, runs } = await this.#server.readSession(sessionId);
      const origin = detail.forked_from?.session_id;
      const found = { session: sessionId, turns: turnsOf(detail, runs), isLoading: false };
      change({ ...found, ...(origin !== undefined && { origin }) });
      const wanted = run ?? runs[0]?.id;
      if (wanted !== undefined) this.follow(wanted);
      if (this.#ahead === ahead) this.#leaveAhead();
    });
    await this.#loading;
  }

  /**
   * Sends a turn and gives the id of its run; undefined when it was not taken, for which `state.error` has the reason. What is sent while a conversation is loaded
   * waits for it: before that, it would begin another one.
   */
  async send(input: TurnInput): Promise<string | undefined> {
    if (this.state.sending !== undefined) return undefined;
    const { error: _, ...rest } = this.state;
    this.#state.next({ ...rest, sending: input });
    const shown = this.#shown;
    let started: string | undefined;
    await this.#during(async () => {
      await this.#loading;
      if (shown !== this.#shown) return;
      if (this.state.error !== undefined) throw this.state.error;
      await this.#prepare();
      const session = await this.#session();
      const run = await this.#server.start({ ...input, session });
      // The user went elsewhere meanwhile; the run goes on.
      if (shown !== this.#shown) return;
      started = run;
      this.#add(input, run, session);
    });
    return started;
  }

  /** Of a conversation that began on this page the server knows it by its first run. */
  async #session(): Promise<string | undefined> {
    const { session, turns } = this.state;
    const run = turns.at(-1)?.run;
    return session ?? (run === undefined ? undefined : (await this.#server.readRun(run)).session_id);
  }

  #add({ query, files = [], resumeFrom }: TurnInput, run: string, session: string | undefined): void {
    const { sending: _, ...now } = this.state;
    const last = now.turns.at(-1);
    const waiting = last?.store?.picture.status === 'waiting' ? last.run : undefined;
    const parent = resumeFrom ?? waiting;
    const turn: Turn = {
      key: run,
      query,
      files: files.map(({ id, name, size }) => ({ id, name, size })),
      run,
      isNew: true,
      ...(parent !== undefined && { parent }),
    };
    this.#state.next({ ...now, ...(session !== undefined && { session }), turns: [...now.turns, turn] });
    this.follow(run);
  }

  /** Follows a run of the conversation, with those that it goes on with. */
  follow(run: string): void {
    const wanted = new Set(this.chainOf(run).map((turn) => turn.run));
    const turns = this.state.turns.map((turn) => {
      if (turn.run === undefined || turn.store !== undefined || !wanted.has(turn.run)) return turn;
      return { ...turn, store: this.#takeAhead(turn.run) ?? this.#opened(turn.run) };
    });
    this.#change({ turns });
  }

  #opened(run: string): RunStore {
    const store = this.#server.store(run, this.#nodes);
    store.open();
    return store;
  }

  #takeAhead(run: string): RunStore | undefined {
    const ahead = this.#ahead;
    if (ahead?.run !== run) return undefined;
    this.#ahead = undefined;
    return ahead;
  }

  /** The turn of a run behind those that it goes on with. */
  chainOf(run: string): readonly Turn[] {
    return chainOf(this.state.turns, run);
  }

  /** Forgets what is shown, for a new conversation. */
  clear(): void {
    this.#shown += 1;
    this.#loading = Promise.resolve();
    this.#leaveAhead();
    for (const { store } of this.state.turns) store?.close();
    this.#state.next(EMPTY_STATE);
  }

  #leaveAhead(): void {
    this.#ahead?.close();
    this.#ahead = undefined;
  }

  /** Does something for what is shown now; its failure is shown, too. */
  async #during(work: (change: (change: Partial<ConversationState>) => void) => Promise<void>): Promise<void> {
    const shown = this.#shown;
    const change = (changed: Partial<ConversationState>): void => {
      if (shown === this.#shown) this.#change(changed);
    };
    try {
      await work(change);
    } catch (error) {
      if (shown !== this.#shown) return;
      this.#leaveAhead();
      const { sending: _, ...rest } = this.state;
      this.#state.next({ ...rest, isLoading: false, error });
    }
  }

  #change(change: Partial<ConversationState>): void {
    this.#state.next({ ...this.state, ...change });
  }
}
