/** How the nodes of a pipeline cut documents, as data. */
import type { TITLE_METHODS } from '../../chunkers/by-titles.js';

/** Cut by tokens. */
export interface TokenCut {
  readonly kind: 'tokens';
  /** Tokens of a chunk at most. */
  readonly size: number;
  /** Share of a chunk that the next one begins with, in percent, 0 to 90. */
  readonly overlapPercent: number;
  /** What ends a piece; pieces are joined as long as they fit. */
  readonly delimiters: readonly string[];
  /** What parts chunks and belongs to none; where there is any, neither `delimiters` nor `size` count. */
  readonly separators: readonly string[];
  /** What parts a chunk into smaller ones. */
  readonly childSeparators: readonly string[];
  /** Whether tables are chunks of their own, in one piece where they are not too long. */
  readonly keepsTables: boolean;
  /** Tokens of the text on each side that a table is told. */
  readonly tableContext: number;
}

/** Cut at titles; see `byTitles`. */
export interface TitleCut {
  readonly kind: 'titles';
  readonly method: (typeof TITLE_METHODS)[number];
  /** Patterns of titles: families, and levels of each. */
  readonly levels: readonly (readonly string[])[];
  readonly hierarchy: number;
  readonly tellsAbove: boolean;
  readonly tellsRoot: boolean;
  /** Tokens of a chunk at most. */
  readonly size: number;
}

/** One way to cut: the whole, pages, rows of tables, questions and answers, tokens, titles. */
export type Cut =
  | { readonly kind: 'whole' }
  | { readonly kind: 'pages' }
  | { readonly kind: 'rows' }
  | { readonly kind: 'questions' }
  | TokenCut
  | TitleCut;
