/** Whether a question is better answered by a research than by one search. */
import type { Intent } from '../intents/intent.js';
import { shapeOf } from '../intents/question-shape.js';

/** When a chat speaks of researches: never, as an offer, or so that its client starts one at once. */
export const RESEARCH_OFFERS = ['off', 'suggest', 'auto'] as const;

/** One of {@link RESEARCH_OFFERS}. */
export type ResearchOffer = (typeof RESEARCH_OFFERS)[number];

/** A research that a client may start. */
export interface ResearchSuggestion {
  /** What to research. */
  readonly question: string;
  readonly reason: 'compound' | 'comparative' | 'multi-hop';
  /** How deep, in the words of researches. */
  readonly depth: 'quick' | 'normal' | 'deep';
  /** Datasets that the chat searches. @default all */
  readonly dataset_ids?: readonly string[];
  /** Whether the client should start it without asking, since the chat is set so. */
  readonly auto: boolean;
}

/** What a suggestion is made from. */
export interface SuggestOptions {
  readonly question: string;
  readonly intents: readonly Intent[];
  readonly offer: ResearchOffer;
  readonly datasetIds: readonly string[] | undefined;
}

/**
 * The research that a question calls for by its shape; undefined for what one search may answer, for what tools answer, and where none is to be spoken of. Nothing is
 * started here.
 */
export function suggestResearch({
  question,
  intents,
  offer,
  datasetIds,
}: SuggestOptions): ResearchSuggestion | undefined {
  if (offer === 'off' || datasetIds?.length === 0 || intents.some(({ kind }) => kind !== 'KB')) return undefined;
  const reason = shapeOf(question);
  if (reason === 'simple' || reason === 'relational') return undefined;
  return {
    ...{ question, reason, depth: 'normal', auto: offer === 'auto' },
    ...(datasetIds !== undefined && { dataset_ids: datasetIds }),
  };
}
