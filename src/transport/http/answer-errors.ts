import type { Middleware } from 'koa';
import type { Log } from '../../hosting/log.js';
import { failureOf, notFound } from '../envelope.js';

/** Answers whatever is thrown behind it in RAGFlow's envelope, and paths that nothing answers with 404. */
export function answerErrors(logger: Log): Middleware {
  return async (exchange, next) => {
    try {
      await next();
      if (exchange.status !== 404 || exchange.body !== undefined) return;
      const { status, body } = notFound(exchange.path);
      exchange.status = status;
      exchange.body = body;
    } catch (error) {
      const { status, body } = failureOf(error);
      if (status >= 500)
        logger.error({ err: error, method: exchange.method, path: exchange.path }, 'a request crashed');
      exchange.status = status;
      exchange.body = body;
      // What is left of a body that was refused is thrown away: a client that cannot finish sending never reads the answer.
      exchange.req.resume();
    }
  };
}
