/** One writer of a session: what it says is appended in its order, and what is known of the session follows. */
import { EMPTY_SESSION, foldSession, loadSession, type SessionState } from '../sessions/fold-session.js';
import type { SessionFact, SessionLog } from '../sessions/session-store.js';

/** Appends facts one after the other. */
export class SessionWriter {
  readonly #log: SessionLog;
  readonly #session: string;
  #state: SessionState = EMPTY_SESSION;
  #last: Promise<unknown> = Promise.resolve();

  constructor(log: SessionLog, session: string) {
    this.#log = log;
    this.#session = session;
  }

  /** The session as far as it was read and written. */
  get state(): SessionState {
    return this.#state;
  }

  /** Reads the session. */
  async load(): Promise<SessionState> {
    this.#state = await loadSession(this.#log, this.#session, this.#state);
    return this.#state;
  }

  /**
   * Appends behind everything that was said before. `facts` is asked when it is its turn.
   *
   * @throws EngineError SESSION_BUSY when another writer wrote meanwhile
   */
  append(facts: (state: SessionState) => readonly SessionFact[]): Promise<SessionState> {
    const written = this.#last.then(async () => {
      const said = facts(this.#state);
      if (said.length === 0) return this.#state;
      const entries = await this.#log.append(this.#session, said, this.#state.newest);
      this.#state = foldSession(entries, this.#state);
      return this.#state;
    });
    // The next one is written also behind a failure, of which its own caller is told.
    this.#last = written.catch(() => undefined);
    return written;
  }
}
