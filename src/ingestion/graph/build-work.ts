/** The build of one graph: what its layers have in common. */
import { EngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import type { BaseParts } from '../../knowledge/base/parts.js';
import {
  type BuildLayer,
  type BuildProgress,
  type BuildSpent,
  readProgress,
  storedProgress,
} from '../../knowledge/graph/build/build-options.js';
import type { Contribution } from '../../knowledge/graph/facts.js';
import type { KnowledgeGraphs } from '../../knowledge/graph/knowledge-graphs.js';
import type { ExtractByRules } from '../../knowledge/graph/rules/extract-by-rules.js';
import type { ChatChoice } from '../../models/router.js';
import { type ClaimedBuild, textHash } from '../../records/graph-store.js';
import type { ChunkRecord } from '../../records/knowledge.js';
import type { FindChat } from '../work.js';

/** What a million tokens of a model cost. */
export interface TokenPrice {
  readonly prompt: number;
  readonly completion: number;
}

/** What builds are made with. */
export interface BuildServices {
  readonly parts: BaseParts;
  /** @default none: the layer `model` reads nothing, and says so */
  readonly chat?: FindChat | undefined;
  /** The graphs that are built: their communities are reported on. @default none: no reports are written, and the build says so */
  readonly graphs?: Pick<KnowledgeGraphs, 'ask'> | undefined;
  /** Price of a model by its id. @default none is known */
  readonly price?: ((model: string) => TokenPrice | undefined) | undefined;
}

/** Where and by whom a build is done. */
export interface BuildWorkOptions extends BuildServices {
  readonly claimed: ClaimedBuild;
  readonly owner: string;
  readonly ttlMs: number;
  readonly rules: ExtractByRules;
  /** Tells the rules of the dataset apart from what they were before. */
  readonly rulesVersion: string;
  readonly report: (progress: BuildProgress) => void;
}

/** The work on a build; it is over when the build is stopped, or another process has it. */
export class BuildWork {
  readonly options: BuildWorkOptions;
  /** Ids of the chunks that are read alone; undefined: all are. */
  readonly chosen: ReadonlySet<string> | undefined;
  readonly #begunAt: number;
  #progress: BuildProgress;

  constructor(options: BuildWorkOptions) {
    this.options = options;
    this.#progress = readProgress(options.claimed.build.value);
    this.#begunAt = options.parts.now();
    const { chunks } = this.request;
    this.chosen = chunks && new Set(chunks);
  }

  get progress(): BuildProgress {
    return this.#progress;
  }

  get request(): BuildProgress['request'] {
    return this.#progress.request;
  }

  /** The model that reads chunks; undefined where there is none. */
  get model(): ChatChoice | undefined {
    return this.options.chat?.(this.options.claimed.tenant, this.request.model);
  }

  /** Stores what some chunks contribute by a layer, and how far the build is. @throws EngineError CONFLICT when the work is over */
  async put(
    layer: BuildLayer,
    version: string,
    found: readonly { readonly chunk: ChunkRecord; readonly contribution: Contribution }[],
  ): Promise<void> {
    const { parts, claimed } = this.options;
    const records = found.map(({ chunk: { id, documentId, text }, contribution }) => ({
      ...{ chunkId: id, documentId, layer, version, textHash: textHash(text) },
      body: contribution as unknown as JsonObject,
    }));
    await parts.store.putContributions(claimed.tenant, claimed.datasetId, records);
    const done = { ...this.#progress.done, [layer]: (this.#progress.done[layer] ?? 0) + found.length };
    await this.tell({ done });
  }

  /** Adds what a call took. */
  spend({ calls, tokens, money }: Omit<BuildSpent, 'ms'>): void {
    const { spent } = this.#progress;
    const sum = spent.money === null || money === null ? null : spent.money + money;
    this.#progress = {
      ...this.#progress,
      spent: { ...spent, calls: spent.calls + calls, tokens: spent.tokens + tokens, money: sum },
    };
  }

  /** Notes what will be missing. */
  miss(line: string): void {
    if (this.#progress.missing.includes(line)) return;
    this.#progress = { ...this.#progress, missing: [...this.#progress.missing, line] };
  }

  /** Milliseconds that this build has taken, in all processes. */
  get ms(): number {
    return this.#progress.spent.ms + this.options.parts.now() - this.#begunAt;
  }

  /** Stores and reports how far it is. @throws EngineError CONFLICT when the work is over */
  async tell(change: Partial<Pick<BuildProgress, 'done' | 'of' | 'message'>>): Promise<void> {
    this.#progress = { ...this.#progress, ...change };
    // A build that gets on is no reason why its processes were lost.
    const begun = change.done !== undefined && { begunAtProgress: this.options.claimed.begun };
    this.#progress = { ...this.#progress, ...begun, progress: shareOf(this.#progress) };
    await this.#store('RUNNING', this.#progress);
  }

  /** Ends the build. */
  async end(state: 'DONE' | 'FAIL', message: string): Promise<void> {
    const finishedAt = this.options.parts.now();
    this.#progress = { ...this.#progress, message, finishedAt, ...(state === 'DONE' && { progress: 1 }) };
    await this.#store(state, this.#progress);
  }

  async #store(state: 'RUNNING' | 'DONE' | 'FAIL', progress: BuildProgress): Promise<void> {
    const { parts, claimed, owner, ttlMs, report } = this.options;
    const { tenant, datasetId, build } = claimed;
    const told = { ...progress, spent: { ...progress.spent, ms: this.ms } };
    const isOurs = await parts.store.saveBuild(
      owner,
      tenant,
      datasetId,
      { id: build.id, state, value: storedProgress(told) },
      ttlMs,
    );
    if (!isOurs) throw overtaken(datasetId);
    report(told);
  }
}

function shareOf({ done, of }: BuildProgress): number {
  const all = Object.values(of).reduce((sum, count) => sum + count, 0);
  const read = Object.values(done).reduce((sum, count) => sum + count, 0);
  return all === 0 ? 0 : Math.min(0.99, read / all);
}

function overtaken(datasetId: string): EngineError {
  return new EngineError(
    'CONFLICT',
    `The build of the graph of dataset "${datasetId}" is over: it was stopped or taken over.`,
  );
}
