/** A knowledge base whose documents are ingested by canvases, with a model that answers whatever is asked. */
import { Observable, of } from 'rxjs';
import { loadPipeline } from '../../../src/canvas/load-pipeline.js';
import { EngineError } from '../../../src/errors.js';
import type { IngestionOptions } from '../../../src/ingestion/run-ingestions.js';
import type { JsonObject } from '../../../src/json.js';
import type { ChatDelta, ChatRequest } from '../../../src/models/chat-model.js';
import type { ChatChoice } from '../../../src/models/router.js';
import { newBase, TENANT, type TestBase } from '../../knowledge/base/support/new-base.js';

/** A chat model of a function. */
export function modelOf(answer: (request: ChatRequest) => string | Observable<ChatDelta>): ChatChoice {
  return {
    name: 'model',
    supportsImages: true,
    contextLength: undefined,
    model: {
      chat(request) {
        const given = answer(request);
        if (given instanceof Observable) return given;
        return of<ChatDelta[]>({ type: 'text', text: given }, { type: 'finish', reason: 'stop' });
      },
    },
  };
}

/** What the last message of a request says. */
export function questionOf({ messages }: ChatRequest): string {
  const { content } = messages.at(-1) ?? { content: '' };
  return typeof content === 'string' ? content : JSON.stringify(content);
}

export interface PipelineBase extends TestBase {
  /** Ingests a file by a pipeline; gives the document as it ended. */
  ingestBy(dsl: unknown, name: string, content: string | Uint8Array): Promise<Awaited<ReturnType<TestBase['ended']>>>;
}

/** A knowledge base with the pipelines that tests give it. */
export function pipelineBase(options: Partial<IngestionOptions> = {}): PipelineBase {
  const base = newBase();
  const canvases = new Map<string, unknown>();
  base.start({
    pipelines: async (tenant, id) => {
      if (tenant !== TENANT || !canvases.has(id)) {
        throw new EngineError('INGEST_FAILED', `There is no agent "${id}".`);
      }
      return loadPipeline(canvases.get(id));
    },
    ...options,
  });
  let count = 0;
  return {
    ...base,
    async ingestBy(dsl, name, content) {
      count += 1;
      const pipelineId = `pipeline-${count}`;
      canvases.set(pipelineId, dsl);
      const datasetId = await base.dataset(`by ${pipelineId}`, { pipelineId });
      return base.ingest(datasetId, name, content);
    },
  };
}

/** A node of a pipeline. */
export type NodeOf = readonly [type: string, params?: JsonObject];

/** A pipeline of nodes in a line: `[type, params]` each. */
export function pipelineOf(...nodes: readonly NodeOf[]): JsonObject {
  const ids = nodes.map(([type], at) => (type === 'File' ? 'File' : `${type}:N${at}`));
  const components = nodes.map(([type, params = {}], at) => [
    ids[at],
    {
      obj: { component_name: type, params },
      downstream: ids.slice(at + 1, at + 2),
      upstream: ids.slice(Math.max(0, at - 1), at),
    },
  ]);
  return { components: Object.fromEntries(components), path: [], history: [], retrieval: [], globals: {} };
}

/** A Parser that reads files of these endings. */
export function parserOf(suffix: readonly string[], more: JsonObject = {}): readonly [string, JsonObject] {
  return ['Parser', { setups: { 'text&code': { suffix, output_format: 'text', ...more } } }];
}
