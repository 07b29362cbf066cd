/** What a run of a step asks, and what it reports. */
import { lastValueFrom, toArray } from 'rxjs';
import {
  EngineError,
  invoke,
  type Question,
  type RunEvent,
  type resumeFrom,
  run,
  type StepLike,
} from '../../../src/index.js';

/** The questions of a run that has to wait. */
export async function questionsOf<I>(
  step: StepLike<I, unknown>,
  input: I | ReturnType<typeof resumeFrom>,
): Promise<{ readonly questions: readonly Question[]; readonly checkpoint: never }> {
  try {
    await invoke(step, input);
  } catch (error) {
    if (EngineError.is(error) && error.code === 'RUN_INTERRUPTED') return error.details as never;
    throw error;
  }
  throw new Error('The run did not wait.');
}

/** All events of a run. */
export function eventsOf<I>(step: StepLike<I, unknown>, input: I): Promise<readonly RunEvent[]> {
  return lastValueFrom(run(step, { input }).pipe(toArray()));
}
