import type { Turn } from '../canvas/turn.js';
import type { Start } from '../graph/run-options.js';
import type { JsonObject } from '../json.js';

/** Where a run starts that goes on from another one. Made by the server alone: nothing of it is read from a request. */
export interface RunOrigin {
  /** The run that it goes on from. */
  readonly run: string;
  /** Number of the event of that run behind which it goes on; absent when it goes on where that one ended. */
  readonly at?: number;
  /** The document that it runs, which becomes that of its session. */
  readonly dsl: JsonObject;
  /** Where it starts, given the turn. @throws EngineError BAD_REQUEST. */
  readonly startOf: (turn: Turn) => Start;
}
