/** What is said to the agents of a run at work from this page, until the log of the run tells that they heard it. */
import { BehaviorSubject, type Observable } from 'rxjs';
import type { Client } from '../api/client.js';

/** Something that was said to a run. */
export interface SaidInput {
  readonly id: string;
  readonly content: string;
  /** Whether the server has it. */
  readonly isKept: boolean;
}

/** Something that the server has of what was said to a run. */
export type KeptInput = Pick<SaidInput, 'id' | 'content'>;

const NONE: readonly SaidInput[] = [];

/** Belongs to a run on a screen. */
export class RunInputs {
  readonly #client: Client;
  readonly #path: string;
  readonly #said = new BehaviorSubject(NONE);

  /** @param path that of the run */
  constructor(client: Client, path: string) {
    this.#client = client;
    this.#path = `${path}/inputs`;
  }

  /** What was said from this page, the earliest first: the present list at once, then each change. */
  get said$(): Observable<readonly SaidInput[]> {
    return this.#said;
  }

  get said(): readonly SaidInput[] {
    return this.#said.value;
  }

  /** Says something; resolves when the server keeps it. @throws ApiError; it is then not in the list. */
  async say(content: string): Promise<void> {
    const id = crypto.randomUUID();
    this.#said.next([...this.said, { id, content, isKept: false }]);
    try {
      await this.#client.call(this.#path, { method: 'POST', body: { id, content } });
      this.#said.next(this.said.map((one) => (one.id === id ? { ...one, isKept: true } : one)));
    } catch (error) {
      this.#said.next(this.said.filter((one) => one.id !== id));
      throw error;
    }
  }

  /** What the server has: all that was said, also by others, the earliest first. @throws ApiError */
  kept(signal: AbortSignal): Promise<readonly KeptInput[]> {
    return this.#client.call<readonly KeptInput[]>(this.#path, { signal });
  }
}
