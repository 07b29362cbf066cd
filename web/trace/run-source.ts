/** What the trace and the state need of a run; the store of a run is one. */
import type { Observable } from 'rxjs';
import type { RunPicture } from '../../src/canvas/picture/picture.js';
import type { RunEvent } from '../../src/graph/events.js';

export interface RunSource {
  /** Id of the agent. */
  readonly agent: string;
  /** Id of the run. */
  readonly run: string;
  /** What the run comes to now. */
  readonly picture: RunPicture;
  readonly picture$: Observable<RunPicture>;
  /** In order; of very long runs the newest. */
  readonly events: readonly RunEvent[];
  /** What the run came to after its event `seq`. */
  at(seq: number): RunPicture;
}
