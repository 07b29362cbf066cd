/** An agent as its page needs it. */
import type { JsonObject } from '../../src/json.js';

/** An agent with its document: the fields that are used. */
export interface AgentDetail {
  readonly id: string;
  readonly title: string;
  readonly description: string | null;
  readonly dsl: JsonObject;
  readonly release: boolean;
  /** When it was changed last, in milliseconds since 1970. */
  readonly update_time: number;
}
