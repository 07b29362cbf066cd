/** Requests to the API of the server that this page came from. */
import type { Json } from '../../src/json.js';
import type { Keys } from './key.js';

/** A refusal by the server, or a failure on the way to it (code 0). */
export class ApiError extends Error {
  /** Code of the server's envelope; 0 when there was no answer. */
  readonly code: number;
  readonly status: number;
  /** What the server says beside the message, such as the issues of a document. */
  readonly data: unknown;

  constructor(message: string, about: { readonly code: number; readonly status: number; readonly data?: unknown }) {
    super(message);
    this.name = 'ApiError';
    this.code = about.code;
    this.status = about.status;
    this.data = about.data;
  }
}

/** What a request says beside its path. */
export interface CallOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Values that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** JSON, or a form with files. */
  readonly body?: object | FormData;
  readonly signal?: AbortSignal;
  /** Goes on when the page is left. */
  readonly outlivesPage?: boolean;
}

/** What is asked before the part of the page is there that needs it: a path, and its query. */
export type EarlyQuestion = Pick<CallOptions, 'query'> & { readonly path: string };

/** The envelope of an answer. */
interface Envelope {
  readonly code: number;
  readonly message?: string;
  readonly data?: unknown;
  readonly total?: number;
}

/** A page of a list. */
export interface Page<T> {
  readonly items: T;
  /** Length of the whole list; undefined where the server does not say. */
  readonly total: number | undefined;
}

/** The server as the page sees it. */
export class Client {
  readonly #keys: Keys;
  readonly #base: string;
  /** Answers that were asked for early, by their address. */
  readonly #early = new Map<string, Promise<Envelope>>();

  /** `base` is the address of the page, below which the API lies. */
  constructor(keys: Keys, base: string) {
    this.#keys = keys;
    this.#base = base;
  }

  get keys(): Keys {
    return this.#keys;
  }

  /** Address of a path of the API. */
  address(path: string, query: CallOptions['query'] = {}): URL {
    const url = new URL(`api/v1${path}`, this.#base);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  }

  /** Asks for what a part of the page that is still being loaded will ask for: the first `call` for the same gets this answer. */
  askEarly({ path, query = {} }: EarlyQuestion): void {
    const answer = this.#asked(path, { query });
    // Its reader is told.
    answer.catch(() => {});
    this.#early.set(this.address(path, query).href, answer);
  }

  /** Drops what was asked early and is not read: later readers want what is true then. */
  forgetEarly(): void {
    this.#early.clear();
  }

  /** The data of an answer. @throws ApiError when the server refuses, or cannot be reached. */
  async call<T = Json>(path: string, options: CallOptions = {}): Promise<T> {
    return (await this.#envelope(path, options)).data as T;
  }

  /** A page of a list, with the length of the whole. @throws ApiError as {@link call}. */
  async page<T>(path: string, options: CallOptions = {}): Promise<Page<T>> {
    const { data, total } = await this.#envelope(path, options);
    return { items: data as T, total };
  }

  /** An answer as it comes, such as a stream or a file. A refused key is asked for, and the request is made again. @throws ApiError. */
  async answer(
    path: string,
    options: CallOptions = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    for (;;) {
      const key = this.#keys.current;
      const response = await this.#fetch(path, options, {
        ...headers,
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      });
      if (response.status !== 401) return response;
      await response.body?.cancel();
      await this.#keys.another(key);
    }
  }

  /** Whether the server takes a key. @throws ApiError when it cannot be reached. */
  async accepts(key: string): Promise<boolean> {
    const response = await this.#fetch('/agents', { query: { page_size: 1 } }, { authorization: `Bearer ${key}` });
    await response.body?.cancel();
    return response.status !== 401;
  }

  #envelope(path: string, options: CallOptions): Promise<Envelope> {
    const { method = 'GET', query } = options;
    if (this.#early.size === 0 || method !== 'GET') return this.#asked(path, options);
    const { href } = this.address(path, query);
    const early = this.#early.get(href);
    this.#early.delete(href);
    return early ?? this.#asked(path, options);
  }

  async #asked(path: string, options: CallOptions): Promise<Envelope> {
    const response = await this.answer(path, options);
    const { status } = response;
    const envelope = await readEnvelope(response);
    if (envelope === undefined) throw new ApiError(`The server answered ${status} without JSON.`, { code: 0, status });
    if (envelope.code === 0) return envelope;
    const { code, message = `The server answered ${status}.`, data } = envelope;
    throw new ApiError(message, { code, status, data });
  }

  async #fetch(
    path: string,
    { method = 'GET', query, body, signal, outlivesPage = false }: CallOptions,
    headers: Record<string, string>,
  ) {
    const isForm = body instanceof FormData;
    try {
      return await fetch(this.address(path, query), {
        method,
        headers: { ...headers, ...(body !== undefined && !isForm && { 'content-type': 'application/json' }) },
        // Nothing but the key says who asks.
        credentials: 'omit',
        cache: 'no-store',
        keepalive: outlivesPage,
        ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
        ...(signal !== undefined && { signal }),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError('The server cannot be reached.', { code: 0, status: 0 });
    }
  }
}

async function readEnvelope(response: Response): Promise<Envelope | undefined> {
  try {
    const value: unknown = await response.json();
    return typeof value === 'object' && value !== null && 'code' in value ? (value as Envelope) : undefined;
  } catch {
    return undefined;
  }
}
