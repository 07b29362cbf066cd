/** Where a process writes what operators should know; a pino logger fits. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const nothing = (): void => {};

/** Writes nothing. */
export const SILENT_LOG: Log = { info: nothing, warn: nothing, error: nothing };
