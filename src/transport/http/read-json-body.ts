import { bodyParser } from '@koa/bodyparser';
import type { Context, Middleware } from 'koa';
import { EngineError } from '../../errors.js';
import { isTooDeep, MAX_JSON_DEPTH } from '../../json.js';
import { badArgument } from '../refusals.js';

/**
 * Parses JSON bodies into `request.body`; without a body it is an empty object. Bodies of other types are left to their
 * routes when they are multipart, and refused otherwise: a form that another site submits must not pass for JSON.
 *
 * @throws EngineError BODY_TOO_LARGE, BAD_REQUEST (HTTP 400) from the middleware.
 */
export function readJsonBody(maxBytes: number): Middleware {
  const parse = bodyParser({
    enableTypes: ['json'],
    // Merged into the defaults by position: the first would otherwise be lost.
    extendTypes: { json: ['application/json', 'application/*+json'] },
    parsedMethods: ['POST', 'PUT', 'PATCH', 'DELETE'],
    // A number here is bytes.
    jsonLimit: maxBytes,
    onError: (error) => {
      throw bodyError(error, maxBytes);
    },
  });
  return async (exchange, next) => {
    refuseOtherTypes(exchange);
    await parse(exchange, async () => {
      // A stream may keep the exchange for an hour; the text of its request is not needed that long.
      exchange.request.rawBody = '';
      if (isTooDeep(exchange.request.body)) {
        throw badArgument(`The request body has more than ${MAX_JSON_DEPTH} levels of lists and objects.`);
      }
      await next();
    });
  };
}

function refuseOtherTypes({ request }: Context): void {
  if (!['POST', 'PUT', 'PATCH'].includes(request.method) || !hasBody(request.headers)) return;
  if (request.is('json', '+json', 'multipart/form-data') !== false) return;
  throw badArgument('Send the body as JSON, with the header "Content-Type: application/json".');
}

function hasBody(headers: Context['headers']): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function bodyError(error: Error, maxBytes: number): EngineError {
  const { type, status } = error as Error & { readonly type?: string; readonly status?: number };
  if (type === 'entity.too.large' || status === 413) {
    return new EngineError('BODY_TOO_LARGE', `The request body is larger than ${maxBytes} bytes.`);
  }
  const details = { httpStatus: 400 };
  // The parser's own words may quote the body, which may hold secrets; they go no further than its position.
  const at = /position (\d+)/.exec(error.message)?.[1];
  const where = at === undefined ? '' : ` (at character ${at})`;
  return new EngineError('BAD_REQUEST', `The request body is not a JSON object${where}.`, { details });
}
