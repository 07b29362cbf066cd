import { estimateTokens } from '../../models/estimate-tokens.js';
import { requireOptions } from '../../operators/invalid-option.js';
import type { DocumentTransformer } from '../ports.js';
import { chunkId } from './chunks.js';
import { cutOf, cutting, type SplitByCharactersOptions } from './split-by-characters.js';

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
  return cutting(name, cutOf('splitByTokens', { ...rest, size, lengthOf: countTokens }), idOf);
}
