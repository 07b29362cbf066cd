import { invalidOption, requireOptions, requireWhole } from '../../operators/invalid-option.js';
import { componentFunction } from '../component-function.js';
import type { DocumentTransformer } from '../ports.js';
import { type ChunkId, chunkId, chunking, MAX_CHUNKS } from './chunks.js';
import { cutIntoChunks, type SeparatorPlace, type TextCut } from './split-text.js';

/** How documents are cut at separators. */
export interface SplitByCharactersOptions {
  /** Longest chunk, as `lengthOf` measures it; at least 1. */
  readonly size: number;
  /** Most of a chunk that the next one begins with; 0 to less than `size`. @default 0 */
  readonly overlap?: number;
  /**
   * Where to cut, the best place first. With the empty text as the last one, a text without any of them is cut between two characters;
   * otherwise it stays whole. @default paragraphs, lines, ends of sentences, blanks, characters
   */
  readonly separators?: readonly string[];
  /** Whether a separator ends the chunk before it, begins the one behind it, or is left out at their border. @default 'end' */
  readonly separatorPlace?: SeparatorPlace;
  /** Measures a text; must not shrink when the text grows. @default UTF-16 units */
  readonly lengthOf?: (text: string) => number;
  /** Gives the ids. @default the id of the document, `#` and the position */
  readonly idOf?: ChunkId;
  /** Most chunks of one document. @default 100_000 */
  readonly maxChunks?: number;
  /** @default 'splitByCharacters' */
  readonly name?: string;
}

const OPTIONS = ['size', 'overlap', 'separators', 'separatorPlace', 'lengthOf', 'idOf', 'maxChunks', 'name'];

/** Paragraphs, lines, ends of sentences in Latin and Chinese writing, blanks, characters. */
const SEPARATORS = ['\n\n', '\n', '. ', '! ', '? ', '。', '！', '？', '; ', '；', ', ', '，', ' ', ''] as const;

/**
 * Cuts documents into chunks of at most `size`, at the best of some separators; see `cutIntoChunks` for the rule.
 *
 * The text of a chunk is a part of the document's as it is; `span` of its metadata says which. Errors of a call: `LIMIT_REACHED` for too
 * many chunks.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function splitByCharacters(options: SplitByCharactersOptions): DocumentTransformer {
  requireOptions('splitByCharacters', options, OPTIONS, 'an object with "size"');
  const { name = 'splitByCharacters', idOf = chunkId } = options;
  return cutting(name, cutOf('splitByCharacters', options), idOf);
}

/** The transformer that cuts texts in one way. */
export function cutting(name: string, cut: TextCut, idOf: ChunkId): DocumentTransformer {
  const split = chunking(
    name,
    ({ text }) => cutIntoChunks(text, cut).map(({ start, end }) => ({ text: text.slice(start, end), start })),
    idOf,
  );
  return componentFunction(name, 'transformer', split);
}

/** The checked options; `owner` is who refuses them. */
export function cutOf(owner: string, options: Omit<SplitByCharactersOptions, 'name' | 'idOf'>): TextCut {
  const { size, overlap = 0, separators = SEPARATORS, separatorPlace: place = 'end', maxChunks = MAX_CHUNKS } = options;
  requireWhole(owner, 'size', size, 1);
  requireWhole(owner, 'overlap', overlap, 0);
  requireWhole(owner, 'maxChunks', maxChunks, 1);
  if (overlap >= size) throw invalidOption(owner, 'overlap', `less than the size, which is ${size}`, overlap);
  if (separators.length === 0) throw invalidOption(owner, 'separators', 'a list of at least one text', '[]');
  if (!['end', 'start', 'none'].includes(place)) {
    throw invalidOption(owner, 'separatorPlace', '"end", "start" or "none"', place);
  }
  return { size, overlap, separators, place, lengthOf: options.lengthOf, maxChunks };
}
