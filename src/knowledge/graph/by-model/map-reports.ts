/** What reports say about a question: a model reads them in groups, side by side, as far as its budget goes. */
import { catchError, defer, EMPTY, from, map, mergeMap, type Observable, of, reduce } from 'rxjs';
import { estimateTokens } from '../../../models/estimate-tokens.js';
import { askTwice, promptTokens } from '../calls/ask-twice.js';
import { EXPECTED_POINTS, globalMapCall, type MappedPoint, shownReport } from '../calls/global-map.js';
import type { GraphModel } from '../calls/graph-model.js';
import type { RatedReport } from '../graph-answers.js';
import type { SearchBudget } from './search-budget.js';

/** What is read. */
export interface MapReportsOptions {
  readonly question: string;
  /** Those that have most to do with the question first. */
  readonly reports: readonly RatedReport[];
  readonly model: GraphModel;
  readonly budget: SearchBudget;
}

/** What reports say. */
export interface MappedReports {
  /** The best first; those under 20 are dropped. */
  readonly points: readonly MappedPoint[];
  /** Reports that were read. */
  readonly read: number;
  /** Whether a model failed at a group, which was rated by words then. */
  readonly isDegraded: boolean;
}

/** Groups that are read at once. */
const CONCURRENT_CALLS = 4;
/** Below this a point is dropped. */
export const LEAST_SCORE = 20;
/** Tokens of the reports of a group, and reports. */
const GROUP_TOKENS = 3_000;
const LEAST_GROUP_TOKENS = 200;
const MAX_GROUP = 12;

/**
 * Asks about groups of reports, four at once; emits once. Where there is no room for another group, those at work are waited for, and the rest is not read.
 *
 * ```text
 * groups    a---|
 *           b-----|
 *            (no room for c)
 * result    -----((a + b)|)
 * ```
 *
 * A group whose answers are of no use is rated by words. When the model cannot be reached that is so too, and no further group is asked. Cold: unsubscribing closes all
 * connections. Never errors.
 */
export function mapReports({ question, reports, model, budget }: MapReportsOptions): Observable<MappedReports> {
  return defer(() => {
    let isOver = false;
    const { tokens } = budget.left;
    const overhead = promptTokens(globalMapCall(question, [])) + EXPECTED_POINTS;
    const size = Math.min(GROUP_TOKENS, Math.max(LEAST_GROUP_TOKENS, tokens / 2 - overhead));
    return from(groupsOf(reports, size)).pipe(
      mergeMap((group): Observable<MappedReports> => {
        if (isOver) return EMPTY;
        return askTwice(model, globalMapCall(question, group), budget).pipe(
          mergeMap((end): Observable<MappedReports> => {
            if (end.state === 'answered') return of({ points: end.value, read: group.length, isDegraded: false });
            if (end.state === 'unusable') return of(ruled(group));
            isOver = true;
            return EMPTY;
          }),
          catchError(() => {
            isOver = true;
            return of(ruled(group));
          }),
        );
      }, CONCURRENT_CALLS),
      reduce(
        (all, { points, read, isDegraded }): MappedReports => ({
          points: [...all.points, ...points],
          read: all.read + read,
          isDegraded: all.isDegraded || isDegraded,
        }),
        NOTHING,
      ),
      map(({ points, ...rest }) => ({
        ...rest,
        points: points
          .filter(({ score }) => score >= LEAST_SCORE)
          .sort((a, b) => b.score - a.score || (a.text < b.text ? -1 : 1)),
      })),
    );
  });
}

const NOTHING: MappedReports = { points: [], read: 0, isDegraded: false };

/** Reports by how much their words have to do with the question. */
function ruled(group: readonly RatedReport[]): MappedReports {
  const points = group.map(({ community, summary, relevance }) => ({
    ...{ text: summary, score: relevance, reports: [community] },
  }));
  return { points, read: group.length, isDegraded: true };
}

function groupsOf(reports: readonly RatedReport[], size: number): readonly RatedReport[][] {
  const groups: RatedReport[][] = [];
  let tokens = 0;
  for (const report of reports) {
    const own = estimateTokens(JSON.stringify(shownReport(report)));
    const last = groups.at(-1);
    if (last === undefined || last.length === MAX_GROUP || tokens + own > size) {
      groups.push([report]);
      tokens = own;
    } else {
      last.push(report);
      tokens += own;
    }
  }
  return groups;
}
