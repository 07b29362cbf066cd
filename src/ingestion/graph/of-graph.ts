/** Asking a graph that may not be there. */
import { EngineError } from '../../errors.js';

/** What a graph answers; of one that nothing contributes to, what is given. */
export async function ofGraph<T>(none: T, answer: () => Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (error) {
    if (EngineError.is(error) && error.code === 'GRAPH_MISSING') return none;
    throw error;
  }
}
