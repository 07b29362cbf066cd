/**
 * Where a run stands in a trace: read from whoever starts it, passed on to whatever it asks.
 *
 * The engine only hands it through. {@link traceContextOf} is the one function for everything that leaves the process: HTTP
 * requests, models, MCP servers, databases, sandboxes.
 */
import type { Activation } from './component.js';

/** The headers of the W3C recommendations "Trace Context" and "Baggage". */
export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

/** Knows where the activations of a run stand in its trace. */
export interface TraceSource {
  /** What an activation passes on, or one of its calls; `token` is `activation.token`. */
  contextOf(token: string, call?: string): TraceContext;
}

/** Longest values that are taken, in characters; the recommendations ask to pass on at least that much. */
const MAX_TRACESTATE = 512;
const MAX_BAGGAGE = 8_192;

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Printable ASCII alone: what is passed on must not be able to end a header. */
const PRINTABLE = /^[\x20-\x7e]+$/;

/** Reads a trace context from headers by lower-case name; what is malformed is left out, and without a parent the state is. */
export function readTraceContext(headers: Readonly<Record<string, unknown>>): TraceContext {
  const read = (name: string, isGood: (text: string) => boolean) => {
    const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
    const text = typeof value === 'string' ? value.trim() : '';
    return isGood(text) ? { [name]: text } : {};
  };
  const parent = read('traceparent', isTraceparent);
  return {
    ...parent,
    ...('traceparent' in parent ? read('tracestate', (text) => isShort(text, MAX_TRACESTATE)) : {}),
    ...read('baggage', (text) => isShort(text, MAX_BAGGAGE)),
  };
}

/** Whether a text is a `traceparent` that may be passed on. */
function isTraceparent(text: string): boolean {
  return TRACEPARENT.test(text);
}

/** What is passed on with a request that an activation makes; with `call`, that one of its calls makes. Empty without a trace. */
export function traceContextOf(
  { services, token }: Pick<Activation, 'services' | 'token'>,
  call?: string,
): TraceContext {
  if (typeof services !== 'object' || services === null || !('trace' in services)) return {};
  const { trace } = services as { readonly trace?: TraceSource };
  return trace?.contextOf(token, call) ?? {};
}

/** A run that is traced by nobody here passes on what its caller sent. */
export function passThrough(context: TraceContext): TraceSource {
  return { contextOf: () => context };
}

function isShort(text: string, most: number): boolean {
  return text.length <= most && PRINTABLE.test(text);
}
