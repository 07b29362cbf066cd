import { storeChunks } from '../../ingestion/store-chunks.js';
import { placeWithin, type StepPlace } from '../../ingestion/work.js';
import type { PipelineActivation, PipelineFacts } from './pipeline-node.js';

/** The node behind the last chunker stores the chunks; where there was no chunker, the document is one chunk. */
export async function storedChunks({ work, place, signal, facts }: PipelineActivation): Promise<{
  readonly facts: PipelineFacts;
  /** What is left of the place of the node. */
  readonly rest: StepPlace;
}> {
  if (facts.isStored) return { facts, rest: place };
  const { chunkMethod: method, parserConfig: settings } = work.options.document;
  const config = { method, settings, cuts: facts.cuts };
  await storeChunks(work, placeWithin(place, 'chunks', 0, 0.5), { textId: facts.textId, config }, signal);
  const { to } = place;
  return { facts: { ...facts, isStored: true }, rest: { ...place, from: (place.from + to) / 2 } };
}
