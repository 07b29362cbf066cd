/** A thread that holds MiniLM and makes vectors. */
import { constants } from 'node:os';
import { EngineError } from '../../../errors.js';
import { answerJobs } from '../../../threads/answer-jobs.js';
import { stepBehind } from '../../../threads/step-behind.js';
import { loadMiniLm, type MiniLmPackages } from './minilm-packages.js';

/** A text, and where the model is. */
export interface MiniLmRequest {
  readonly packages: MiniLmPackages;
  readonly text: string;
  /** Whether other work of the machine goes first; a thread that once gave way stays behind. */
  readonly givesWay: boolean;
}

type Embed = (text: string) => Promise<number[]>;

answerJobs(createMiniLm(), (thrown) => (thrown instanceof Error ? thrown.message : String(thrown)));

/** Makes vectors by a model that is read with the first text. */
function createMiniLm(): (request: MiniLmRequest) => Promise<number[]> {
  let model: Promise<Embed> | undefined;
  let isBehind = false;
  return async ({ packages, text, givesWay }) => {
    if (givesWay && !isBehind) {
      isBehind = true;
      stepBehind(constants.priority.PRIORITY_LOW);
    }
    model ??= openModel(packages);
    return (await model)(text);
  };
}

async function openModel(packages: MiniLmPackages): Promise<Embed> {
  const loaded = await loadMiniLm(packages);
  if (loaded === undefined) throw new EngineError('MODEL_UNAVAILABLE', 'The packages of MiniLM are gone.');
  const { embed } = await loaded.engine.createEmbedder({ model: loaded.weights });
  // One text a call: for many the package starts threads of its own.
  return async (text) => (await embed([text]))[0] ?? [];
}
