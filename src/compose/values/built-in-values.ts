/** The types that can be stored without a definition: what is stored of them, and how they are made of it. */
import { EngineError, type ErrorCode } from '../../errors.js';
import type { BuiltInName } from './define-value.js';

/** How values of a built-in type are stored: as something that can be stored itself. */
export interface BuiltIn {
  readonly name: BuiltInName;
  readonly toStored: (value: never) => unknown;
}

const builtIn = <T>(name: BuiltInName, toStored: (value: T) => unknown): BuiltIn => ({ name, toStored });

/** The built-in types of objects by their prototype; an instance of a class that extends one of them is not of that type. */
export const BY_PROTOTYPE: ReadonlyMap<object, BuiltIn> = new Map<object, BuiltIn>([
  [Date.prototype, builtIn('date', (date: Date) => (Number.isNaN(date.getTime()) ? null : date.toISOString()))],
  [Map.prototype, builtIn('map', (map: ReadonlyMap<unknown, unknown>) => [...map])],
  [Set.prototype, builtIn('set', (set: ReadonlySet<unknown>) => [...set])],
  [Uint8Array.prototype, builtIn('bytes', base64)],
  [Buffer.prototype, builtIn('buffer', base64)],
  [ArrayBuffer.prototype, builtIn('array-buffer', (bytes: ArrayBuffer) => base64(new Uint8Array(bytes)))],
  [URL.prototype, builtIn('url', (url: URL) => url.href)],
]);

/** Errors of every class: their kind, name, message, cause, and of an EngineError its code and particulars. */
export const ERRORS: BuiltIn = builtIn('error', storedError);

/** What is stored of an error. Its stack is not: it names files of the process that is gone. */
interface StoredError {
  /** Which class it is made with. */
  readonly kind: string;
  readonly name: string;
  readonly message: string;
  readonly cause?: unknown;
  /** Of an AggregateError. */
  readonly errors?: readonly unknown[];
  /** Of an EngineError, as are the others. */
  readonly code?: string;
  readonly node?: string;
  readonly retryable?: boolean;
  readonly details?: unknown;
}

const NATIVE_ERRORS: Readonly<Record<string, new (message: string, options?: ErrorOptions) => Error>> = {
  TypeError,
  RangeError,
  SyntaxError,
  ReferenceError,
  URIError,
  EvalError,
};

/** Makes a value of what was stored of it, by name; `stored` has been restored already. @throws TypeError when it is none of these. */
export function restoreBuiltIn(name: Exclude<BuiltInName, 'object'>, stored: unknown): unknown {
  switch (name) {
    case 'undefined':
      return undefined;
    case 'number':
      return restoreNumber(text(stored));
    case 'bigint':
      return BigInt(text(stored));
    case 'date':
      return new Date(stored === null ? Number.NaN : text(stored));
    case 'map':
      return new Map(list(stored) as [unknown, unknown][]);
    case 'set':
      return new Set(list(stored));
    case 'bytes':
      return bytesOf(stored);
    case 'buffer':
      return Buffer.from(text(stored), 'base64');
    case 'array-buffer':
      return bytesOf(stored).buffer;
    case 'url':
      return new URL(text(stored));
    case 'error':
      return restoreError(stored as StoredError);
  }
}

/** The numbers that JSON does not have. */
export function storedNumber(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

function restoreNumber(stored: string): number {
  if (['NaN', 'Infinity', '-Infinity', '-0'].includes(stored)) return Number(stored);
  throw new TypeError(`"${stored}" is none of the numbers that are stored by name`);
}

function storedError(error: Error): StoredError {
  const { name, message } = error;
  const stored: { -readonly [K in keyof StoredError]: StoredError[K] } = { kind: kindOf(error), name, message };
  if (error.cause !== undefined) stored.cause = error.cause;
  if (error instanceof AggregateError) stored.errors = error.errors;
  if (EngineError.is(error)) {
    stored.code = error.code;
    stored.retryable = error.retryable;
    if (error.node !== undefined) stored.node = error.node;
    if (error.details !== undefined) stored.details = error.details;
  }
  return stored;
}

function kindOf(error: Error): string {
  if (EngineError.is(error)) return 'EngineError';
  if (error instanceof AggregateError) return 'AggregateError';
  for (const [kind, type] of Object.entries(NATIVE_ERRORS)) if (error instanceof type) return kind;
  return 'Error';
}

function restoreError({ kind, name, message, cause, errors, code, node, retryable, details }: StoredError): Error {
  const options = cause === undefined ? undefined : { cause };
  if (kind === 'EngineError') {
    return new EngineError(code as ErrorCode, text(message), {
      ...options,
      details,
      retryable: retryable === true,
      ...(node === undefined ? {} : { node }),
    });
  }
  const type = Object.hasOwn(NATIVE_ERRORS, kind) ? NATIVE_ERRORS[kind] : undefined;
  const error =
    kind === 'AggregateError'
      ? new AggregateError(list(errors), text(message), options)
      : new (type ?? Error)(text(message), options);
  // Not enumerable, as it is in the class that is not there any more.
  if (error.name !== name)
    Object.defineProperty(error, 'name', { value: text(name), configurable: true, writable: true });
  return error;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Bytes of their own: those of small Buffers share memory with others. */
function bytesOf(stored: unknown): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text(stored), 'base64'));
}

function text(stored: unknown): string {
  if (typeof stored === 'string') return stored;
  throw new TypeError(`a text is stored for it; found ${typeof stored}`);
}

function list(stored: unknown): readonly unknown[] {
  if (Array.isArray(stored)) return stored;
  throw new TypeError(`a list is stored for it; found ${typeof stored}`);
}
