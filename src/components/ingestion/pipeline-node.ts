/** What the nodes of ingestion pipelines have in common: they pass on facts about one document, whose text and chunks are in the store. */
import { z } from 'zod';
import { foundValue } from '../../dsl/resolve.js';
import { EngineError } from '../../errors.js';
import type { Activation, NodeFunction } from '../../graph/node.js';
import { IngestionWork, type StepPlace } from '../../ingestion/work.js';
import { isJsonObject, type Json } from '../../json.js';
import type { Cut } from '../../knowledge/base/chunking/cut.js';
import type { Placement } from '../component.js';

/** What a pipeline knows of its document so far. */
export interface PipelineFacts {
  /** Id of the text; empty for a document without a file. */
  readonly textId: string;
  /** How it is cut. */
  readonly cuts: readonly Cut[];
  /** Whether tables are cut together with the text around them. */
  readonly isFlat: boolean;
  /** Whether its chunks are stored. */
  readonly isStored: boolean;
}

/** What a node works on. */
export interface PipelineActivation {
  readonly work: IngestionWork;
  readonly place: StepPlace;
  readonly signal: AbortSignal;
  readonly facts: PipelineFacts;
}

const NO_FACTS: PipelineFacts = { textId: '', cuts: [], isFlat: false, isStored: false };

/** Outputs of every node of a pipeline. */
export const factsPort = {
  facts: { type: 'object', description: 'What is known of the document, for the next node.' },
} as const;

/** Outputs of the nodes that cut: references to `chunks` stand for the text of one chunk, where a prompt has them. */
export const chunkPorts = {
  ...factsPort,
  output_format: { type: 'string', description: 'Always `chunks`.' },
} as const;

/** The function of a node that adds to the facts of the node before. */
export function pipelineNode(
  { upstream }: Placement,
  perform: (at: PipelineActivation) => Promise<PipelineFacts> | PipelineFacts,
): NodeFunction {
  return async (activation) => {
    const work = workOf(activation);
    const [before] = upstream;
    const found = before === undefined ? null : foundValue(activation.lookup(`${before}@facts`));
    const facts = isJsonObject(found) ? (found as unknown as PipelineFacts) : NO_FACTS;
    const place = work.placeOf(activation.node);
    const made = await perform({ work, place, signal: activation.signal, facts });
    return { facts: made as unknown as Json, ...(made.cuts.length > 0 && { output_format: 'chunks' }) };
  };
}

function workOf({ services, node }: Activation): IngestionWork {
  if (services instanceof IngestionWork) return services;
  const message = `Node "${node}" is part of an ingestion pipeline, which runs for documents of a dataset that names it as its pipeline_id.`;
  throw new EngineError('CONFIG_INVALID', message, { node });
}

/** A text or several, of which the empty ones do not count. */
export const someTexts = z
  .union([z.string(), z.array(z.unknown())])
  .nullish()
  .transform((given): readonly string[] =>
    [given ?? []].flat().filter((one): one is string => typeof one === 'string' && one !== ''),
  );
