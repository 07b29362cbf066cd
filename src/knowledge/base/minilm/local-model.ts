import type { Embedder } from '../../../models/single-answer.js';

/** An embedding model that runs on this machine, for datasets in English that name no model. */
export interface LocalModel {
  /** Its vectors are stored under this name. */
  readonly name: string;
  /** Makes the vectors of questions. */
  readonly questions: Embedder;
  /** Makes the vectors of passages, while other work of the machine goes first. */
  readonly passages: Embedder;
}
