/** What a thread does with graphs: it holds some in memory and answers questions about them. */

import type { WrittenDescription } from '../by-model/written-description.js';
import type { GraphForm } from '../given/graph-forms.js';
import { type GivenReading, readGiven } from '../given/read-given.js';
import type { GraphAnswers, GraphAsk } from '../graph-answers.js';
import type { NameDecision } from '../graph-records.js';
import { type ContributionKey, GraphSession, type StoredContribution } from '../graph-session.js';
import type { Simplify } from '../names/name-forms.js';
import type { WrittenReport } from '../reports/written-report.js';
import { answerAsk } from './graph-asks.js';

/** What a desk is asked for; `graph` names the graph. */
export type DeskRequest =
  | { readonly do: 'read'; readonly form: GraphForm; readonly text: string }
  | {
      readonly do: 'begin';
      readonly graph: string;
      readonly keys: readonly ContributionKey[];
      readonly decisions: readonly NameDecision[];
      readonly aliases: readonly (readonly [string, string])[];
      readonly reports: readonly WrittenReport[];
      readonly descriptions: readonly WrittenDescription[];
    }
  | { readonly do: 'put'; readonly graph: string; readonly contributions: readonly StoredContribution[] }
  | { readonly do: 'ask'; readonly graph: string; readonly ask: GraphAsk };

/** What it gives: `read` the graph of a text; `begin` the contributions that are missing; `ask` undefined for a graph that is not held any more. */
export interface DeskAnswers {
  readonly read: GivenReading;
  readonly begin: readonly ContributionKey[];
  readonly put: number;
  readonly ask: GraphAnswers[keyof GraphAnswers] | undefined;
}

/** Contributions that are held of all graphs together; the graph that was not asked for the longest goes first. */
const MAX_HELD = 400_000;

/** Makes a desk. */
export function createDesk(loadSimplify: () => Promise<Simplify>) {
  /** In the order of their last use. */
  const sessions = new Map<string, GraphSession>();
  const use = (name: string, session: GraphSession): void => {
    sessions.delete(name);
    sessions.set(name, session);
    for (const [oldest] of sessions) {
      const held = [...sessions.values()].reduce((sum, { size }) => sum + size, 0);
      if (held <= MAX_HELD || oldest === name) return;
      sessions.delete(oldest);
    }
  };
  return async (request: DeskRequest): Promise<DeskAnswers[DeskRequest['do']]> => {
    if (request.do === 'read') return readGiven(request.form, request.text);
    const known = sessions.get(request.graph);
    if (request.do === 'ask') {
      if (known === undefined) return undefined;
      use(request.graph, known);
      return answerAsk(known, request.ask);
    }
    const session = known ?? new GraphSession(await loadSimplify());
    if (request.do === 'begin') {
      const { decisions, aliases, reports, descriptions } = request;
      session.change({ decisions, aliases, reports, descriptions });
    } else session.change({ put: request.contributions });
    const answer = request.do === 'begin' ? session.missing(request.keys) : session.size;
    use(request.graph, session);
    return answer;
  };
}
