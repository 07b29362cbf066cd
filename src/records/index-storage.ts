/** What a search index keeps: byte strings in segments, by tenant and dataset. */

/** Whose index it is; every call names both. */
export interface IndexScope {
  readonly tenant: string;
  readonly dataset: string;
}

/** A part of an index whose rows never change once it is listed; what happens to its passages later is in its flags. */
export interface SegmentEntry {
  /** Unique within its scope; at most 64 characters. */
  readonly id: string;
  /** One byte for each passage; its bits are the index's matter. */
  readonly flags: Uint8Array;
}

/** The segments that make an index, and the number of its newest change. */
export interface IndexState {
  /** 0 for an index that never was; rises with each commit. */
  readonly generation: number;
  /** In the order in which they were added. */
  readonly segments: readonly SegmentEntry[];
}

/** A byte string of a segment. */
export interface IndexRow {
  /** What it holds, such as `terms`; at most 16 characters. */
  readonly kind: string;
  /** Its name within the kind; at most 256 characters. */
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** What a commit changes, all of it or nothing. */
export interface IndexChange {
  /** Segments whose rows are written. @default none */
  readonly add?: readonly SegmentEntry[];
  /** Ids of segments that go, with their rows. @default none */
  readonly drop?: readonly string[];
  /** Segments whose flags are replaced. @default none */
  readonly flags?: readonly SegmentEntry[];
}

/**
 * Where search indexes are kept. Rows are written first, in small steps, and count from the commit that lists their segment; so an index is
 * never half written, and no step holds a database for long.
 */
export interface IndexStorage {
  /** The segments that count. */
  state(scope: IndexScope): Promise<IndexState>;
  /** The number of the newest commit; cheaper than `state`. */
  generation(scope: IndexScope): Promise<number>;
  /** Writes rows of a segment; a row with the same kind and key is replaced. */
  write(scope: IndexScope, segment: string, rows: readonly IndexRow[]): Promise<void>;
  /** The rows of a kind with these keys; those that are not there are absent. */
  read(scope: IndexScope, segment: string, kind: string, keys: readonly string[]): Promise<Map<string, Uint8Array>>;
  /** The rows of a kind in the order of their keys by code units of UTF-8, behind the key `after`; at most `limit`. */
  list(
    scope: IndexScope,
    segment: string,
    kind: string,
    page: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<readonly IndexRow[]>;
  /** Copies rows of a kind from one segment to another: `keys` has the new key of each by its key. Those that are not there are left out. */
  copy(
    scope: IndexScope,
    segments: { readonly from: string; readonly to: string },
    kind: string,
    keys: ReadonlyMap<string, string>,
  ): Promise<void>;
  /** Carries out a change if the newest commit is still `generation`; gives whether it was. Rows of dropped segments are deleted. */
  commit(scope: IndexScope, generation: number, change: IndexChange): Promise<boolean>;
  /** Deletes rows of a kind with these keys, or the whole segment without a kind; what is not there is no error. */
  erase(
    scope: IndexScope,
    segment: string,
    rows?: { readonly kind: string; readonly keys: readonly string[] },
  ): Promise<void>;
  /** Deletes rows of segments that are not listed and whose ids are below `before`: what a process left that was lost while it wrote. */
  sweep(scope: IndexScope, before: string): Promise<void>;
  /** Deletes the index and everything that was written for it; no generation that was read before comes again. */
  clear(scope: IndexScope): Promise<void>;
  /** Nearest vectors. @default it finds none */
  readonly nearestVectors?: NearestVectors | undefined;
}

/** Kind of rows whose bytes are vectors: whole numbers from -128 to 127. */
export const VECTOR_ROWS = 'vectors';

/** How a storage finds vectors among the rows of a segment. */
export interface NearestVectors {
  /**
   * Builds the index of the vectors of a segment, which later ones are added to; gives whether there is one then, which a storage may be unable to or
   * another process may be at. Other calls go on meanwhile; a hundred thousand vectors take minutes.
   */
  build(scope: IndexScope, segment: string): Promise<boolean>;
  /** Keys of vectors that have the greatest cosines with one, the greatest first; not quite all of them. Undefined without an index. */
  nearest(
    scope: IndexScope,
    segment: string,
    wanted: { readonly vector: readonly number[]; readonly limit: number },
  ): Promise<readonly string[] | undefined>;
}
