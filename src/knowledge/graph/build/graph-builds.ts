/** What builds the graphs of datasets, as those see it who ask for one. */
import type { Observable } from 'rxjs';
import type { GraphBuildRecord } from '../../../records/graph-store.js';
import { type BuildProgress, type BuildRequest, readProgress } from './build-options.js';

/** What a build is expected to take. */
export interface BuildCost {
  /** Chunks that each layer still has to read. */
  readonly chunks: number;
  /** Reports on communities that a model will write; of chunks that are not read yet, as most graphs need them. */
  readonly reports: number;
  readonly calls: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** Null where the price of the model is not known. */
  readonly money: number | null;
  /** Milliseconds; of models as they usually take. */
  readonly ms: number;
  /** Name of the model; null where none is configured. */
  readonly model: string | null;
  /** Chunks that the model read for the estimate, and what that took; null where it was not asked for. */
  readonly sampled: {
    readonly chunks: number;
    readonly calls: number;
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
  } | null;
}

/** What is asked about a build that is not begun. */
export interface BuildCostRequest extends Pick<BuildRequest, 'layers' | 'model' | 'reports'> {
  /** Whether the model reads ten chunks, so that its answers are measured. @default false: they are as they usually are */
  readonly sample?: boolean | undefined;
}

/** A build with whose it is. */
export interface BuildReport {
  readonly tenant: string;
  readonly datasetId: string;
  readonly progress: BuildProgress;
}

/** The builds of the graphs of a knowledge base. */
export interface GraphBuilds {
  /** Puts a build in line. @throws EngineError GRAPH_BUSY while another one of the dataset runs; BAD_REQUEST for chunks that it does not have */
  start(tenant: string, datasetId: string, request: BuildRequest): Promise<GraphBuildRecord>;
  /** What a build would take; nothing is started, and nothing is kept of what a sample reads. Errors of a sample: those of the model. */
  cost(tenant: string, datasetId: string, request: BuildCostRequest, signal?: AbortSignal): Promise<BuildCost>;
  /** The last build of a dataset, as it stands. */
  find(tenant: string, datasetId: string): Promise<GraphBuildRecord | undefined>;
  /** Stops a build; connections to models are closed at once in this process. Whether there was one. */
  cancel(tenant: string, datasetId: string): Promise<boolean>;
  /**
   * Builds what is in line, one graph at a time: cold, emits the progress of all, never ends.
   *
   * ```text
   * in line   a---b--------c----
   * result    --p-p-(p)-p-p--p-p
   * ```
   *
   * Unsubscribing stops the build at once and gives it back: it goes on behind the last chunk that was read. Several processes may do it over one store.
   */
  run(): Observable<BuildReport>;
}

/** A build as clients see it: its state and how far it is. */
export function toldBuild({
  id,
  state,
  value,
}: GraphBuildRecord): BuildProgress & { readonly id: string; readonly state: string } {
  return { id, state, ...readProgress(value) };
}
