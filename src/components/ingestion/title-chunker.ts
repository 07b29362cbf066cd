import { z } from 'zod';
import { TITLE_METHODS } from '../../knowledge/chunkers/by-titles.js';
import { flag, nodeParams, withDefault } from '../base-params.js';
import { chunkerNode } from './chunker-node.js';

/** Tokens of a chunk at most, as a document may say. */
const MAX_CAP = 8_000;

/** Parameters of the chunkers at titles. */
export const titleParams = nodeParams({
  method: withDefault(z.enum(TITLE_METHODS), 'hierarchy').describe(
    '"hierarchy" (default): a chunk for each section; "group": very small sections are joined with the next.',
  ),
  levels: withDefault(z.array(z.array(z.string())), []).describe(
    'Patterns of titles: families, and levels of each; the family with the most titles in a document counts. In the syntax of RE2.',
  ),
  hierarchy: withDefault(z.coerce.number().int().min(0).max(1_000), 0).describe(
    'Which of the levels that the document has is the deepest to cut at, from 1. 0 (default) with "group": the level of most titles.',
  ),
  include_heading_content: flag(false).describe(
    'True: what stands directly below a title is a chunk of its own. False (default): the sections below are searched with it, too.',
  ),
  root_chunk_as_heading: flag(false).describe(
    'Whether all chunks are searched with what stands before the first title. Default: false.',
  ),
  chunk_token_cap: withDefault(z.coerce.number().min(0), 512).describe(
    'Tokens of a chunk at most; default 512, 0: 8000.',
  ),
});

/** What is wrong with the patterns of titles. */
export function checkLevels(levels: readonly (readonly string[])[]): readonly string[] {
  return patternsOf(levels).length > 0 ? [] : ['it has no patterns of titles in "levels"'];
}

/** The families that have patterns. */
export function patternsOf(levels: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return levels.map((family) => family.filter((pattern) => pattern !== '')).filter((family) => family.length > 0);
}

/** TitleChunker: cuts at titles, which every chunk knows; long sections are cut at sentences. */
export const titleChunker = chunkerNode({
  type: 'TitleChunker',
  summary: 'Cuts the text of an ingestion pipeline at its titles.',
  params: titleParams,
  check: ({ levels }) => checkLevels(levels),
  cut: (given) => ({
    kind: 'titles',
    method: given.method,
    levels: patternsOf(given.levels),
    hierarchy: given.method === 'hierarchy' ? Math.max(1, given.hierarchy) : given.hierarchy,
    tellsAbove: given.method === 'hierarchy' && !given.include_heading_content,
    tellsRoot: given.root_chunk_as_heading,
    size: given.chunk_token_cap >= 1 ? Math.min(MAX_CAP, Math.floor(given.chunk_token_cap)) : MAX_CAP,
  }),
});
