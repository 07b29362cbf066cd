import { isTraceparent, type TraceContext } from '../../graph/trace-context.js';

/**
 * Where a statement belongs in a trace, as a comment behind it: the convention of sqlcommenter, which logs and activity views of
 * servers show with the statement. Empty without a trace; a value that is no `traceparent` is left out, so that nothing in it can
 * end the comment.
 */
export function traceComment({ traceparent }: TraceContext = {}): string {
  return traceparent !== undefined && isTraceparent(traceparent) ? `/*traceparent='${traceparent}'*/` : '';
}

/** A checked statement with a comment behind it; on a line of its own where the last one may be a comment already. */
export function withComment(statement: string, comment: string): string {
  if (comment === '') return statement;
  return `${statement}${/--|#/.test(statement) ? '\n' : ' '}${comment}`;
}
