import { Newest } from '../../newest.js';
import { ownedKey } from '../../records/repository.js';
import type { RunStore } from '../../records/runs.js';

/** Runs that are looked through for a message of another process. */
const MAX_SEARCHED = 1_000;
const PAGE = 100;

/** Messages of this process that are remembered. */
const MAX_REMEMBERED = 10_000;

/** Finds the run that a message belongs to. */
export class RunsOfMessages {
  readonly #runs: RunStore;
  readonly #known = new Newest<string>({ maxCount: MAX_REMEMBERED });

  constructor(runs: RunStore) {
    this.#runs = runs;
  }

  /** Remembers a run that was just started. */
  add(tenant: string, message: string, run: string): void {
    this.#known.put(ownedKey(tenant, message), run);
  }

  /** The run of a message of an agent, among those of this process and the newest of the store. */
  async find(tenant: string, agentId: string, message: string): Promise<string | undefined> {
    const known = this.#known.get(ownedKey(tenant, message));
    if (known !== undefined) return (await this.#runs.find(tenant, known))?.agentId === agentId ? known : undefined;
    for (let offset = 0; offset < MAX_SEARCHED; offset += PAGE) {
      const { items } = await this.#runs.list(tenant, { agentId, offset, limit: PAGE });
      const run = items.find(({ messageId }) => messageId === message);
      if (run !== undefined || items.length < PAGE) return run?.id;
    }
    return undefined;
  }
}
