/** A database as an editor names it. */
export interface DatabaseAddress {
  /** In lower case, such as `mysql` or `postgresql`. */
  readonly kind: string;
  readonly database: string;
  readonly username: string;
  readonly host: string;
  readonly port: number;
  readonly password: string;
}

/**
 * Connects to a database and asks it something trivial.
 *
 * @throws EngineError URL_BLOCKED or URL_INVALID for a host that must not be reached, anything else when it does not answer.
 */
export interface DatabaseProbe {
  /** Kinds it knows. */
  readonly kinds: readonly string[];
  probe(address: DatabaseAddress): Promise<void>;
}
