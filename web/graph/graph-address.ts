/** What the address of a graph says: which part is drawn, what is chosen, what is asked. */

export const SEARCH_KINDS = ['local', 'global', 'drift', 'path', 'rank'] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

/** Which part of a graph is drawn. */
export interface GraphFilter {
  /** Id, name or alias of the entity in the middle; empty: the most mentioned ones. */
  readonly around: string;
  /** Steps from it. */
  readonly depth: number;
  /** Empty: all. */
  readonly types: readonly string[];
  /** Empty: all. */
  readonly community: string;
  /** Entities at most. */
  readonly limit: number;
}

/** A question to a graph. */
export interface GraphQuestion {
  readonly kind: SearchKind;
  readonly question: string;
  /** The two ends of `path`. */
  readonly from: string;
  readonly to: string;
}

export const DEPTHS = [1, 2, 3, 4, 5] as const;
export const LIMITS = [50, 100, 200, 500, 1_000] as const;
const DEFAULT_LIMIT = 200;

export function readGraphFilter(query: URLSearchParams): GraphFilter {
  return {
    around: query.get('around') ?? '',
    depth: oneNumberOf(DEPTHS, query.get('depth')) ?? 1,
    types: (query.get('types') ?? '').split(',').filter(Boolean),
    community: query.get('community') ?? '',
    limit: oneNumberOf(LIMITS, query.get('limit')) ?? DEFAULT_LIMIT,
  };
}

/** As a value of the address; the default one is left out. */
export const limitValue = (limit: string | undefined): string | undefined =>
  limit === String(DEFAULT_LIMIT) ? undefined : limit;

export function readQuestion(query: URLSearchParams): GraphQuestion {
  return {
    kind: SEARCH_KINDS.find((kind) => kind === query.get('kind')) ?? 'local',
    question: query.get('q') ?? '',
    from: query.get('from') ?? '',
    to: query.get('to') ?? '',
  };
}

/** Whether there is something to ask. */
export function isAsked({ kind, question, from, to }: GraphQuestion): boolean {
  return kind === 'path' ? from !== '' && to !== '' : question !== '';
}

/** A whole number from 0 or 1 of the address. */
export function wholeOf(query: URLSearchParams, name: string, least: 0 | 1): number {
  const value = Number(query.get(name) ?? Number.NaN);
  return Number.isSafeInteger(value) && value >= least ? value : least;
}

function oneNumberOf(allowed: readonly number[], text: string | null): number | undefined {
  return allowed.find((one) => String(one) === text);
}
