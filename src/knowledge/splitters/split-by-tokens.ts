import { estimateTokens } from '../../models/estimate-tokens.js';
import { requireOptions } from '../../operators/invalid-option.js';
import { componentFunction } from '../component-function.js';
import type { DocumentTransformer } from '../ports.js';
import { chunkId, chunking } from './chunks.js';
import { cutOf, type SplitByCharactersOptions } from './split-by-characters.js';
import { cutIntoChunks } from './split-text.js';

/** How documents are cut by tokens. */
export interface SplitByTokensOptions extends Omit<SplitByCharactersOptions, 'size' | 'lengthOf'> {
  /** Most tokens of a chunk, at least 1. @default 512, as RAGFlow's chunks */
  readonly size?: number;
  /** Counts the tokens of a text; must not shrink when the text grows. @default an estimate that needs no tokenizer */
  readonly countTokens?: (text: string) => number;
  /** @default 'splitByTokens' */
  readonly name?: string;
}

const OPTIONS = ['size', 'countTokens', 'overlap', 'separators', 'separatorPlace', 'idOf', 'maxChunks', 'name'];

/**
 * Cuts documents into chunks of at most `size` tokens, at the same places as `splitByCharacters`. `overlap` is in tokens, too.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function splitByTokens(options: SplitByTokensOptions = {}): DocumentTransformer {
  requireOptions('splitByTokens', options, OPTIONS);
  const { name = 'splitByTokens', size = 512, countTokens = estimateTokens, idOf = chunkId, ...rest } = options;
  const cut = cutOf('splitByTokens', { ...rest, size, lengthOf: countTokens });
  const split = chunking(
    name,
    ({ text }) => cutIntoChunks(text, cut).map(({ start, end }) => ({ text: text.slice(start, end), start })),
    idOf,
  );
  return componentFunction(name, 'transformer', split);
}
