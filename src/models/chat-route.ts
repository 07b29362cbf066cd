import { EngineError } from '../errors.js';
import { ROUTE_PREFIX } from './configuration.js';
import type { ChatChoice, Models } from './router.js';

/** The model of a chat, and the id under which `Models.answer` knows it. */
export interface ChatRouteChoice {
  readonly id: string;
  readonly choice: ChatChoice;
}

/**
 * The model that a chat names, else the route "chat" where there is one, else the default model; without any provider the built-in one.
 *
 * @throws EngineError MODEL_UNKNOWN
 */
export function chatRouteOf(models: Pick<Models, 'chat' | 'isScripted'>, llmId = ''): ChatRouteChoice {
  if (llmId !== '') return { id: llmId, choice: models.chat(llmId) };
  const ids = [`${ROUTE_PREFIX}chat`, '', ...(models.isScripted ? [BUILT_IN] : [])];
  let unknown: unknown;
  for (const id of ids) {
    try {
      return { id, choice: models.chat(id) };
    } catch (error) {
      if (!EngineError.is(error) || error.code !== 'MODEL_UNKNOWN') throw error;
      unknown = error;
    }
  }
  throw unknown;
}

/** Id of the model that answers by a script. */
const BUILT_IN = 'scripted';
