import { EngineError } from '../errors.js';
import type { CallOptions } from '../models/define-provider.js';
import type { Embedder } from '../models/single-answer.js';
import { requireMethods, requireObject, requireWhole } from '../operators/invalid-option.js';
import { componentFunction, type StepLabel } from './component-function.js';
import type { EmbedFunction } from './ports.js';
import { sideBySide } from './side-by-side.js';

/** How texts are sent to an embedder. */
export interface EmbedBatchedOptions {
  /** @default 'embedBatched' */
  readonly name?: string;
  /** Texts of one call, at least 1. @default 64, what every provider known takes */
  readonly batchSize?: number;
  /** Calls at once, at least 1. @default 2 */
  readonly concurrency?: number;
}

/** An embedder as a function with name and kind; it is an `Embedder` as well. */
export type TextEmbedder = EmbedFunction & StepLabel<'embedder'> & Embedder;

/**
 * An embedder that sends texts in batches, some of them at once; equal texts of a call are sent once.
 *
 * What comes back is checked, so that no text gets the vector of another: as many vectors as texts, all of the same length, of finite
 * numbers. Errors of a call: `EMBEDDING_MISMATCH` for an answer that is not so, and those of the embedder.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function embedBatched(embedder: Embedder, options: EmbedBatchedOptions = {}): TextEmbedder {
  requireMethods('embedBatched', 'embedder', embedder, ['embed'], 'an object with a function "embed"');
  requireObject('embedBatched', 'options', options, 'an object');
  const { name = 'embedBatched', batchSize = 64, concurrency = 2 } = options;
  requireWhole('embedBatched', 'batchSize', batchSize, 1);
  requireWhole('embedBatched', 'concurrency', concurrency, 1);
  const embed: EmbedFunction = async (texts, { signal, ...rest }: CallOptions = {}) => {
    const distinct = [...new Set(texts)];
    const batches: string[][] = [];
    for (let at = 0; at < distinct.length; at += batchSize) batches.push(distinct.slice(at, at + batchSize));
    const answers = await sideBySide(
      batches,
      async (batch, own) => checked(name, batch.length, await embedder.embed(batch, { ...rest, signal: own })),
      { concurrency, signal },
    );
    const vectors = answers.flat();
    requireEqualLengths(name, vectors);
    const byText = new Map(distinct.map((text, at) => [text, vectors[at] as number[]]));
    return texts.map((text) => byText.get(text) as number[]);
  };
  const labelled = componentFunction(name, 'embedder', embed);
  return Object.assign(labelled, { embed: labelled });
}

function checked(name: string, texts: number, vectors: number[][]): number[][] {
  if (vectors.length !== texts) {
    throw mismatch(name, `gave ${vectors.length} vectors for ${texts} texts`);
  }
  for (const vector of vectors) {
    if (vector.length === 0) throw mismatch(name, 'gave an empty vector');
    if (!vector.every(Number.isFinite)) throw mismatch(name, 'gave a vector that is not made of finite numbers');
  }
  return vectors;
}

function requireEqualLengths(name: string, [first, ...others]: readonly number[][]): void {
  const other = others.find((vector) => vector.length !== first?.length);
  if (other !== undefined) throw mismatch(name, `gave vectors of ${first?.length} and of ${other.length} numbers`);
}

function mismatch(name: string, what: string): EngineError {
  return new EngineError(
    'EMBEDDING_MISMATCH',
    `The embedder "${name}" ${what}. Use one model for all texts, and a server that answers each text with one vector.`,
  );
}
