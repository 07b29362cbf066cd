import type { Middleware } from 'koa';
import type { AnswersInFlight } from './answers-in-flight.js';
import type { RequestState } from './route.js';

/** Counts answers before they are given to the socket. */
export function countAnswers(answers: AnswersInFlight): Middleware<RequestState> {
  return async (exchange, next) => {
    await next();
    const { body, res } = exchange;
    const bytes = sizeOf(body);
    if (bytes !== undefined) return answers.settle(res, exchange.state.tenant ?? '', bytes);
    if (typeof body !== 'object' || body === null || isStream(body)) return;
    // Written here, because its size is not known before.
    const text = JSON.stringify(body);
    await answers.settle(res, exchange.state.tenant ?? '', Buffer.byteLength(text));
    exchange.body = text;
  };
}

function sizeOf(body: unknown): number | undefined {
  if (typeof body === 'string') return Buffer.byteLength(body);
  return Buffer.isBuffer(body) ? body.byteLength : undefined;
}

function isStream(body: object): boolean {
  return 'pipe' in body || body instanceof Blob || body instanceof ReadableStream || body instanceof Response;
}
