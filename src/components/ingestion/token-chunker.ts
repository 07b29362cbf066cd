import { z } from 'zod';
import { delimitersIn } from '../../knowledge/base/chunking/delimiters.js';
import { nodeParams, withDefault } from '../base-params.js';
import { chunkerNode } from './chunker-node.js';
import { someTexts } from './pipeline-node.js';

/** Tokens of a chunk at most. */
const MAX_TOKENS = 8_192;

const tokens = (standard: number) => withDefault(z.coerce.number().min(0).max(1_000_000), standard);

const params = nodeParams({
  delimiter_mode: withDefault(z.enum(['delimiter', 'token_size', 'one']), 'delimiter').describe(
    '"delimiter" (default), or "one": the whole document is one chunk.',
  ),
  chunk_token_size: tokens(512).describe('Tokens of a chunk at most; default 512, at most 8192.'),
  delimiters: someTexts.describe(
    'What ends a piece; pieces are joined while they fit. A text between backticks parts chunks and belongs to none; then nothing else parts them. Default: ends of lines.',
  ),
  overlapped_percent: tokens(0).describe(
    'Share of a chunk that the next begins with, 0 to 90, or below 1. Default: 0.',
  ),
  children_delimiters: someTexts.describe('What parts each chunk into smaller ones; default none.'),
  table_context_size: tokens(0).describe('Tokens of the text on each side that a table is searched with. Default: 0.'),
  image_context_size: tokens(0).describe(
    'As for tables; pictures are no chunks here, so it has no effect. Default: 0.',
  ),
});

/** TokenChunker: cuts by tokens and delimiters; tables are chunks of their own. */
export const tokenChunker = chunkerNode({
  type: 'TokenChunker',
  summary: 'Cuts the text of an ingestion pipeline by tokens and delimiters.',
  params,
  cut(given, { isFlat }) {
    if (given.delimiter_mode === 'one') return { kind: 'whole' };
    const { chunk_token_size: size, overlapped_percent: percent, delimiters, children_delimiters: children } = given;
    const read = delimitersIn(delimiters.join(''));
    const overlap = percent > 0 && percent < 1 ? percent * 100 : percent;
    return {
      kind: 'tokens',
      size: Math.min(MAX_TOKENS, Math.max(1, Math.floor(size))),
      overlapPercent: Math.min(90, Math.round(overlap)),
      delimiters: delimiters.length === 0 ? ['\n'] : read.delimiters,
      separators: read.separators,
      childSeparators: children.flatMap((one) => {
        const { separators } = delimitersIn(`\`${one.replaceAll('`', '')}\``);
        return separators;
      }),
      keepsTables: !isFlat,
      tableContext: Math.floor(given.table_context_size),
    };
  },
});
