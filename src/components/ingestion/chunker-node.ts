import type { ZodType } from 'zod';
import type { Cut } from '../../knowledge/base/chunking/cut.js';
import { knowledgeJob } from '../../knowledge/base/jobs.js';
import { type Component, defineComponent } from '../component.js';
import { chunkPorts, type PipelineActivation, type PipelineFacts, pipelineNode } from './pipeline-node.js';

/** What a chunker of pipelines is. */
export interface ChunkerNode<P> {
  readonly type: string;
  readonly summary: string;
  readonly params: ZodType<P>;
  check?(params: P): readonly string[];
  cut(params: P, facts: PipelineFacts): Cut;
}

/** A node that cuts the document, or what the chunker before it made. The chunks are stored by the node behind the last chunker. */
export function chunkerNode<P>({ check, cut, ...node }: ChunkerNode<P>): Component<P> {
  return defineComponent<P>({
    ...node,
    group: 'ingestion',
    outputs: chunkPorts,
    timeoutSeconds: null,
    ...(check && { check: (params: P) => check(params) }),
    create: (params, placement) =>
      pipelineNode(placement, async (at) => {
        const facts = { ...at.facts, cuts: [...at.facts.cuts, cut(params, at.facts)] };
        await tried(at, facts);
        return facts;
      }),
  });
}

/** Cuts once, so that what is wrong with the parameters is told by the node that has them. */
async function tried({ work, place, signal }: PipelineActivation, { cuts }: PipelineFacts): Promise<void> {
  const { document, threads } = work.options;
  const config = { method: document.chunkMethod, settings: document.parserConfig, cuts };
  await work.once(
    place,
    () => '',
    async () => {
      await knowledgeJob('chunk', { document: { text: '' }, config }, { name: document.name, threads, signal });
      return {};
    },
  );
}
