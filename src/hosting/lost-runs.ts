import { EngineError } from '../errors.js';
import type { LeaseStore } from '../records/durable-stores.js';
import type { Log } from './log.js';
import type { HubStores } from './run-hub.js';
import { SESSION_LEASES } from './session-claims.js';
import type { TakeOver } from './take-over.js';

export interface LostRunsOptions {
  readonly stores: HubStores;
  readonly takeOver: TakeOver;
  /** Whether a session is one that this process has, or is about to have. */
  readonly isOurs: (tenant: string, session: string) => boolean;
  readonly leaseMs: number;
  readonly logger: Log;
}

/** Leases that are looked at in one go. */
const MAX_FOUND = 1_000;

/** Runs that are taken over side by side. */
const AT_ONCE = 16;

/** Looks that a lease has: half its time is left for taking the run over. */
const LOOKS = 4;

/** Looks for runs whose process was lost: at once, then again and again. */
export class LostRuns {
  readonly #options: LostRunsOptions;
  #timer: NodeJS.Timeout | undefined = undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(options: LostRunsOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#look();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const { logger, leaseMs } = this.#options;
    try {
      await this.#takeOverAll();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) logger.warn({ err: error }, 'lost runs cannot be looked for; trying again');
      this.#isFailing = true;
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#look(), leaseMs / LOOKS).unref();
  }

  async #takeOverAll(): Promise<void> {
    const { leases } = this.#options.stores;
    const found = [...(await leases.expired(SESSION_LEASES, MAX_FOUND))];
    const next = found.values();
    let failure: { readonly error: unknown } | undefined;
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const lease of next) {
          if (this.#isClosed) return;
          // One that cannot be looked at is no reason to leave the others alone.
          await this.#takeOver(lease).catch((error: unknown) => {
            if (EngineError.is(error) && error.retryable) throw error;
            failure ??= { error };
          });
        }
      }),
    );
    if (failure !== undefined) throw failure.error;
  }

  async #takeOver({ tenant, name, owner, data }: Awaited<ReturnType<LeaseStore['expired']>>[number]): Promise<void> {
    const { stores, takeOver, isOurs } = this.#options;
    const { leases, runs, home = '' } = stores;
    // Others may share the leases without sharing what they are about.
    if (data.home !== home || typeof data.run !== 'string') return;
    // A process that could not prolong its leases for a while is not lost.
    if (isOurs(tenant, name.slice(SESSION_LEASES.length))) return;
    const record = await runs.find(tenant, data.run);
    if (record?.status === 'running') await takeOver(tenant, record);
    // It ended, or was lost before it began; nobody may have taken the lease meanwhile.
    else await leases.release(tenant, name, owner);
  }
}
