/** Whose the keys are that requests come with. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { TokenStore } from '../../records/tokens.js';
import { type ApiKey, LOCAL_TENANT } from '../../settings/access.js';
import type { Origin } from './client-address.js';
import { Guesses, type GuessesOptions } from './guesses.js';

/** The forms of keys that tenants make; what has another form is not looked up. */
const MADE_KEY = /^ragflow-[A-Za-z0-9_-]{43}$/;
const PAGE_KEY = /^[A-Za-z0-9_-]{32}$/;

/** Who calls: what is known after a key was checked. */
export interface Caller {
  /** Empty on routes that are open or the administrator's. */
  tenant: string;
  /** Stands for the key that the request came with, in counters; never the key itself. */
  caller: string;
  /** The one agent that the key opens; absent: all of the tenant's. */
  boundAgent?: string | undefined;
  /** Names the key of a chat page, which opens only what it made; absent: the key is one of the API. */
  page?: string | undefined;
  /** Whether the tenant made the key; otherwise it is one of the settings. */
  isMade?: boolean | undefined;
}

/** What a key opens. */
export interface CallerOptions {
  /** Whether the keys of chat pages are taken as well. @default false */
  readonly takesPage?: boolean;
}

export interface CallersOptions extends GuessesOptions {
  /** Keys of the settings; none: the server has no keys, and every request is the local tenant's. */
  readonly keys: readonly ApiKey[];
  /** Keys that tenants made. */
  readonly tokens: Pick<TokenStore, 'findByToken' | 'findByBeta'>;
}

/** Finds out who calls. */
export class Callers {
  /** Whether the server has keys at all. */
  readonly hasKeys: boolean;
  /** Look-ups of what strangers name. */
  readonly guesses: Guesses;
  readonly #keys: readonly { readonly tenant: string; readonly digest: Buffer }[];
  readonly #tokens: CallersOptions['tokens'];

  constructor(options: CallersOptions) {
    this.hasKeys = options.keys.length > 0;
    this.guesses = new Guesses(options);
    this.#keys = options.keys.map(({ tenant, key }) => ({ tenant, digest: digestOf(key) }));
    this.#tokens = options.tokens;
  }

  /** The tenants of the settings. */
  get tenants(): readonly string[] {
    return this.hasKeys ? [...new Set(this.#keys.map(({ tenant }) => tenant))] : [LOCAL_TENANT];
  }

  /**
   * Who calls with a key; undefined when it opens nothing here.
   *
   * @throws EngineError LIMIT_REACHED (HTTP 429) when the address has sent too many wrong keys.
   */
  find(origin: Origin, key: string, { takesPage = false }: CallerOptions = {}): Promise<Caller | undefined> {
    const digest = digestOf(key);
    const name = digest.toString('base64url');
    const caller = name.slice(0, 22);
    return this.guesses.find(origin, `${takesPage ? 'page' : 'key'} ${name}`, async () => {
      const tenant = this.#configured(digest);
      if (tenant !== undefined) return { tenant, caller };
      const made = MADE_KEY.test(key) ? await this.#tokens.findByToken(key) : undefined;
      if (made !== undefined) return { tenant: made.tenant, caller, isMade: true };
      const page = takesPage && PAGE_KEY.test(key) ? await this.#tokens.findByBeta(key) : undefined;
      if (page === undefined) return undefined;
      const { agentId } = page.record;
      return { tenant: page.tenant, caller, page: name, ...(agentId === undefined ? {} : { boundAgent: agentId }) };
    });
  }

  /** What `find` gives for a secret that is compared with one of the settings. @throws EngineError LIMIT_REACHED (HTTP 429). */
  async isSecret(origin: Origin, given: string, expected: string): Promise<boolean> {
    const name = digestOf(given).toString('base64url');
    return (
      (await this.guesses.find(origin, `secret ${name}`, async () => sameSecret(given, expected) || undefined)) ?? false
    );
  }

  /** Whether a key is one of the settings; nothing is looked up or counted. */
  isConfigured(key: string): boolean {
    return this.#configured(digestOf(key)) !== undefined;
  }

  /** The tenant of a key of the settings, in the same time for every key. */
  #configured(digest: Buffer): string | undefined {
    let found: string | undefined;
    for (const candidate of this.#keys) {
      if (timingSafeEqual(candidate.digest, digest)) found = candidate.tenant;
    }
    return found;
  }
}

/** The token of an `Authorization` header: `Bearer <token>`, or the bare token. */
export function tokenOf(header: string | undefined): string | undefined {
  const text = header?.trim() ?? '';
  if (text === '' || /^bearer$/i.test(text)) return undefined;
  return /^bearer\s+(.*)$/is.exec(text)?.[1] ?? text;
}

/** Whether two secrets are the same; in constant time. */
export function sameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(expected));
}

/** Of equal length, as `timingSafeEqual` needs. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
