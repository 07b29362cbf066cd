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

/** What belongs to a graph as a whole. */
export interface GraphNotes {
  readonly decisions: readonly NameDecision[];
  readonly aliases: readonly (readonly [string, string])[];
  readonly reports: readonly WrittenReport[];
  readonly descriptions: readonly WrittenDescription[];
}

/**
 * What a desk is asked for; `graph` names the graph. One is brought by `begin`, then `keep` for some shards at a time, each followed by `put` of what is missing, then `end`;
 * until then nothing is answered about a new one.
 */
export type DeskRequest =
  | { readonly do: 'read'; readonly form: GraphForm; readonly text: string }
  | {
      readonly do: 'begin';
      readonly graph: string;
      /** Whether all of it follows. Otherwise it must be held. */
      readonly isWhole: boolean;
      /** @default those that are held */
      readonly notes?: GraphNotes | undefined;
    }
  | {
      readonly do: 'keep';
      readonly graph: string;
      readonly shards: readonly number[];
      /** All contributions of these shards. */
      readonly keys: readonly ContributionKey[];
    }
  | { readonly do: 'put'; readonly graph: string; readonly contributions: readonly StoredContribution[] }
  | { readonly do: 'end'; readonly graph: string }
  | { readonly do: 'drop'; readonly graph: string }
  | { readonly do: 'ask'; readonly graph: string; readonly ask: GraphAsk };

/** What it gives: `read` the graph of a text; `keep` the contributions that are missing; otherwise whether it is held, and undefined for a graph that is not held any more. */
export interface DeskAnswers {
  readonly read: GivenReading;
  readonly begin: boolean;
  readonly keep: readonly ContributionKey[] | undefined;
  readonly put: boolean;
  readonly end: boolean;
  readonly drop: boolean;
  readonly ask: GraphAnswers[keyof GraphAnswers] | undefined;
}

/** Contributions that are held of all graphs together; the graph that was not asked for the longest goes first. */
const MAX_HELD = 400_000;

/** A graph at a desk. */
interface Held {
  readonly session: GraphSession;
  /** Whether all of it is there. */
  isWhole: boolean;
}

/** Makes a desk. */
export function createDesk(loadSimplify: () => Promise<Simplify>) {
  /** In the order of their last use. */
  const graphs = new Map<string, Held>();
  const use = (name: string, held: Held): void => {
    graphs.delete(name);
    graphs.set(name, held);
    for (const [oldest] of graphs) {
      const size = [...graphs.values()].reduce((sum, { session }) => sum + session.size, 0);
      if (size <= MAX_HELD || oldest === name) return;
      graphs.delete(oldest);
    }
  };
  return async (request: DeskRequest): Promise<DeskAnswers[DeskRequest['do']]> => {
    if (request.do === 'read') return readGiven(request.form, request.text);
    const { graph } = request;
    if (request.do === 'drop') return graphs.delete(graph);
    if (request.do === 'begin') {
      const simplify = await loadSimplify();
      const known = graphs.get(graph);
      if (!request.isWhole && known?.isWhole !== true) return false;
      const held = known ?? { session: new GraphSession(simplify), isWhole: false };
      if (request.notes !== undefined) held.session.change(request.notes);
      use(graph, held);
      return true;
    }
    const held = graphs.get(graph);
    if (held === undefined) return request.do === 'put' || request.do === 'end' ? false : undefined;
    const { session } = held;
    switch (request.do) {
      case 'keep':
        return session.missing(request.keys, new Set(request.shards));
      case 'put':
        session.change({ put: request.contributions });
        use(graph, held);
        return true;
      case 'end':
        held.isWhole = true;
        return true;
      case 'ask':
        if (!held.isWhole) return undefined;
        use(graph, held);
        return answerAsk(session, request.ask);
    }
  };
}
