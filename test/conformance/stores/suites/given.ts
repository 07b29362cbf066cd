/** What must be there before a store is asked to keep something of it. */
export interface Given {
  /** Makes an agent; gives its id. */
  agent(tenant: string): Promise<string>;
  /** Makes a run of a new agent; gives its id. */
  run(tenant: string): Promise<string>;
}
