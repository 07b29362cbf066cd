/** The answers of a result by the way that they took: short circuits, and what they were grounded in. */
import type { EvaluationResult, MeasuredQuestion } from './evaluation-result.js';
import type { Slot } from './use-results.js';

/** The answers of one result that took one way. */
export interface RouteLine {
  readonly route: string;
  readonly slot: Slot;
  readonly count: number;
  /** Of all answers of the result that name a way, 0 to 1. */
  readonly share: number;
  /** By measure, over the answers that have a value. */
  readonly means: Readonly<Record<string, number>>;
  /** Milliseconds; undefined where no answer tells. */
  readonly medianMs: number | undefined;
  /** Per answer that tells. */
  readonly meanTokens: number | undefined;
}

/** The full ways first, then short circuits, then what failed. */
const ORDER = ['KB', 'MCP', 'HYBRID', 'SYSTEM', 'A', 'B', 'C', 'failed'];

/** The way of an answer; undefined for a result that does not tell it. */
export function routeOf({ about: { route } }: MeasuredQuestion): string | undefined {
  return typeof route === 'string' ? route : undefined;
}

/** Lines by way, those of A before those of B; empty where no answer names its way. */
export function answerRoutes(a: EvaluationResult, b: EvaluationResult | undefined): readonly RouteLine[] {
  const results = [['a', a] as const, ...(b === undefined ? [] : [['b', b] as const])];
  const told = results.flatMap(([, { questions }]) => questions.flatMap((one) => routeOf(one) ?? []));
  const rank = (route: string): number => (ORDER.includes(route) ? ORDER.indexOf(route) : ORDER.length);
  const routes = [...new Set(told)].toSorted((one, other) => rank(one) - rank(other));
  return routes.flatMap((route) =>
    results.flatMap(([slot, { questions, measures }]) => {
      const known = questions.filter((one) => routeOf(one) !== undefined);
      const own = known.filter((one) => routeOf(one) === route);
      return own.length === 0 ? [] : [lineOf({ route, slot, own, all: known.length, measures })];
    }),
  );
}

/** Questions of both results whose answers took different ways. */
export function movedCount(a: EvaluationResult, b: EvaluationResult): number {
  const before = new Map(a.questions.map((one) => [one.id, routeOf(one)]));
  return b.questions.filter((one) => {
    const [was, is] = [before.get(one.id), routeOf(one)];
    return was !== undefined && is !== undefined && was !== is;
  }).length;
}

interface Answers {
  readonly route: string;
  readonly slot: Slot;
  readonly own: readonly MeasuredQuestion[];
  readonly all: number;
  readonly measures: readonly string[];
}

function lineOf({ route, slot, own, all, measures }: Answers): RouteLine {
  const means = measures.flatMap((measure) => {
    const mean = meanOf(own.flatMap(({ values }) => values[measure] ?? []));
    return mean === undefined ? [] : [[measure, mean] as const];
  });
  const times = own.flatMap((one) => numberIn(one, 'ms')).toSorted((one, other) => one - other);
  return {
    ...{ route, slot, count: own.length, share: own.length / all },
    means: Object.fromEntries(means),
    medianMs: times[Math.floor((times.length - 1) / 2)],
    meanTokens: meanOf(own.flatMap((one) => numberIn(one, 'tokens'))),
  };
}

function numberIn({ about }: MeasuredQuestion, name: string): readonly number[] {
  const value = about[name];
  return typeof value === 'number' ? [value] : [];
}

function meanOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}
