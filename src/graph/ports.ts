/** What the engine asks of the outside to make a run durable. */
import type { Checkpoint } from './state.js';

/**
 * Where checkpoints are kept; one per run, the newest wins.
 *
 * `save` may be synchronous. A run that ends with a checkpoint is reported as ended only after `save` is done.
 */
export interface CheckpointStore {
  save(checkpoint: Checkpoint): Promise<void> | void;
  /** Undefined when the run has none. */
  load(run: string): Promise<Checkpoint | undefined>;
  /** Does nothing when the run has none. */
  delete(run: string): Promise<void>;
}
