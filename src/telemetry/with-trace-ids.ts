import type { TraceIds } from './telemetry.js';

type Write = (fields: object, message: string) => void;

/** A log that tells lines of one run by its id, in the field `run`. */
export interface RunLogging {
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}

/** The same log, whose lines about a traced run carry `trace_id` and `span_id`. */
export function withTraceIds(log: RunLogging, idsOf: (run: string) => TraceIds | undefined): RunLogging {
  const identified = (fields: object): object => {
    const run = 'run' in fields ? fields.run : undefined;
    const ids = typeof run === 'string' ? idsOf(run) : undefined;
    return ids === undefined ? fields : { ...fields, ...ids };
  };
  return {
    info: (fields, message) => log.info(identified(fields), message),
    warn: (fields, message) => log.warn(identified(fields), message),
    error: (fields, message) => log.error(identified(fields), message),
  };
}
