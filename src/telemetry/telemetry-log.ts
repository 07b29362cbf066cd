/** As much of a log as telemetry needs; the server's fits. */
export interface TelemetryLog {
  warn(fields: object, message: string): void;
}

/** What is written of telemetry's own troubles: one line a minute, with the number of those that were left out. */
const PAUSE_MS = 60_000;

type Write = (message: string, ...rest: unknown[]) => void;

/** The SDK's troubles, such as a collector that is down, without filling the log. */
export function throttled(log: TelemetryLog, now: () => number = Date.now) {
  let spokenAt = Number.NEGATIVE_INFINITY;
  let leftOut = 0;
  const write: Write = (message) => {
    if (now() - spokenAt < PAUSE_MS) {
      leftOut += 1;
      return;
    }
    log.warn({ telemetry: String(message).slice(0, 500), leftOut }, 'telemetry has a problem; runs go on');
    spokenAt = now();
    leftOut = 0;
  };
  const nothing: Write = () => {};
  return { error: write, warn: write, info: nothing, debug: nothing, verbose: nothing };
}
