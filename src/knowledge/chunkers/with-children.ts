import { invalidOption } from '../../operators/invalid-option.js';
import { type ByTokensOptions, tokenCut } from './by-tokens.js';
import { atMost, type ChunkDraft, type Chunker, type DraftFields } from './chunker.js';

/**
 * Cuts the chunks of another chunker into smaller ones: each chunk is followed by its children, whose `parent` is its position. Small passages are found
 * more exactly, large ones say more: search finds the children and gives their parents. A chunk that has only one child has none.
 *
 * @throws EngineError OPTION_INVALID; LIMIT_REACHED when read, for too many chunks and children.
 */
export function withChildren(chunker: Chunker, options: ByTokensOptions): Chunker {
  if (typeof chunker !== 'function') throw invalidOption('withChildren', 'chunker', 'a chunker', chunker);
  const cut = tokenCut(options);
  return (document) => {
    const families = inFamilies(chunker(document), (draft, fields) => cut(document, draft, fields));
    return atMost(families, options.maxChunks);
  };
}

/** Drafts, each followed by its children where it has several. @param childrenOf cuts a draft; its children get the fields */
export function* inFamilies<D extends ChunkDraft>(
  drafts: Iterable<D>,
  childrenOf: (draft: D, fields: DraftFieldsOfChild) => Iterable<ChunkDraft>,
): Generator<D | ChunkDraft> {
  let position = 0;
  for (const draft of drafts) {
    const { parent: _, ...own } = draft;
    const { headings, context, question } = draft;
    const fields = { ...(headings && { headings }), ...(context && { context }), ...(question && { question }) };
    const children = [...childrenOf(draft, { ...fields, parent: position })];
    yield own as D;
    position += 1;
    if (children.length < 2) continue;
    yield* children;
    position += children.length;
  }
}

/** What children have of their parent. */
type DraftFieldsOfChild = Omit<DraftFields, 'tokens'>;

/** Positions of the drafts that others are parts of. */
export function parentsAmong(drafts: readonly ChunkDraft[]): ReadonlySet<number> {
  return new Set(drafts.flatMap(({ parent }) => (parent === undefined ? [] : [parent])));
}
