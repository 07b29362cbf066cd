/** A chat model as graphs ask it. */
import { askForJson } from '../../chat/stages/ask-for-json.js';
import type { GraphModel } from '../../knowledge/graph/calls/graph-model.js';
import type { ChatChoice } from '../../models/router.js';

/** Makes what graphs ask of a chat model. */
export function graphModelOf({ model, name }: ChatChoice): GraphModel {
  return { name, ask: (question) => askForJson({ model, name }, question) };
}
