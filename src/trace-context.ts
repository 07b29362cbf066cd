/**
 * Trace context of a run: read from the request that starts it, propagated with every request that its nodes make.
 *
 * {@link traceContextOf} is the one function for everything that leaves the process: HTTP requests, models, MCP servers, databases,
 * sandboxes.
 */

/** The headers of the W3C recommendations "Trace Context" and "Baggage". */
export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

/** Gives the trace context of the activations of a run. */
export interface TraceSource {
  /** The context that an activation, or one of its calls, propagates; `token` is `activation.token`. */
  contextOf(token: string, call?: string): TraceContext;
}

/** Longest values that are taken, in characters; the recommendations require at least that much. */
const MAX_TRACESTATE = 512;
const MAX_BAGGAGE = 8_192;

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Printable ASCII alone: a propagated value must not be able to end a header. */
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

/** Whether a text is a valid `traceparent`. */
export function isTraceparent(text: string): boolean {
  return TRACEPARENT.test(text);
}

/** The context for a request of an activation, or of one of its calls (`call`). Empty without a trace. */
export function traceContextOf(
  activation: { readonly services: unknown; readonly token: string },
  call?: string,
): TraceContext {
  const { services, token } = activation ?? {};
  if (typeof services !== 'object' || services === null || !('trace' in services)) return {};
  const { trace } = services as { readonly trace?: TraceSource };
  return trace?.contextOf(token, call) ?? {};
}

/** For a run without a tracer in this process: propagates what its caller sent. */
export function passThrough(context: TraceContext): TraceSource {
  return { contextOf: () => context };
}

function isShort(text: string, most: number): boolean {
  return text.length <= most && PRINTABLE.test(text);
}
