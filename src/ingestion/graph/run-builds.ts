import { randomUUID } from 'node:crypto';
import {
  catchError,
  concat,
  defer,
  EMPTY,
  filter,
  from,
  ignoreElements,
  interval,
  merge,
  Observable,
  race,
  repeat,
  Subject,
  switchMap,
  take,
  takeUntil,
  timer,
} from 'rxjs';
import { stream } from '../../compose/run.js';
import { EngineError, toEngineError } from '../../errors.js';
import { chunksOfDataset } from '../../knowledge/base/chunks-of-dataset.js';
import type { BaseParts } from '../../knowledge/base/parts.js';
import {
  type BuildProgress,
  newProgress,
  storedProgress,
  writesReports,
} from '../../knowledge/graph/build/build-options.js';
import type { BuildReport, GraphBuilds } from '../../knowledge/graph/build/graph-builds.js';
import { rulesOfDataset, type VersionedRules } from '../../knowledge/graph/rules/own-rules.js';
import { busy } from '../../knowledge/graph/service/graph-of-base.js';
import type { ClaimedBuild, GraphBuildRecord } from '../../records/graph-store.js';
import { buildPipeline } from './build-pipeline.js';
import { type BuildServices, BuildWork } from './build-work.js';
import { estimateCost } from './cost.js';

/** How builds are made. */
export interface GraphBuildsOptions extends BuildServices {
  /** Milliseconds after which is looked for builds that other processes put in line or have left. @default 5,000 */
  readonly pollMs?: number | undefined;
  /** How long a build stays with a process that is lost, in milliseconds. @default 30,000 */
  readonly claimMs?: number | undefined;
  /** Called with every error that is not one of a build. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Processes that may be lost on a build, one after the other and without anything done, before it fails. */
const MAX_BEGUN = 5;
/** After an error of the store, milliseconds until it is tried again. */
const PAUSE_MS = 1_000;

/** Makes what builds graphs. */
export function createGraphBuilds(options: GraphBuildsOptions): GraphBuilds {
  const { parts, pollMs = 5_000, claimMs = 30_000, onError = () => {} } = options;
  const { store, now } = parts;
  const wake$ = new Subject<void>();
  const stopped$ = new Subject<string>();
  const rulesOf = async (tenant: string, datasetId: string): Promise<VersionedRules> =>
    rulesOfDataset((await store.findDataset(tenant, datasetId)) ?? {});
  const idOf = (tenant: string, datasetId: string): string => JSON.stringify([tenant, datasetId]);
  return {
    async start(tenant, datasetId, request) {
      await requireChunks(parts, tenant, datasetId, request.chunks ?? []);
      const id = randomUUID().replaceAll('-', '');
      const build: GraphBuildRecord = { id, state: 'RUNNING', value: storedProgress(newProgress(request, now())) };
      if (!(await store.startBuild(tenant, datasetId, build))) {
        if ((await store.findDataset(tenant, datasetId)) !== undefined) throw busy(datasetId);
        throw new EngineError('NOT_FOUND', `There is no dataset "${datasetId}".`);
      }
      wake$.next();
      return build;
    },
    async cost(tenant, datasetId, { layers, model, sample = false, ...asked }, signal = new AbortController().signal) {
      const choice = options.chat?.(tenant, model);
      const price = choice && options.price?.(model === '' ? choice.name : model);
      const reports = writesReports({ layers, ...asked });
      const question = { tenant, datasetId, layers, reports, graphs: options.graphs, model: choice, price, sample };
      return estimateCost(parts, await rulesOf(tenant, datasetId), question, signal);
    },
    find: (tenant, datasetId) => store.findBuild(tenant, datasetId),
    async cancel(tenant, datasetId) {
      const isThere = await store.stopBuild(tenant, datasetId);
      stopped$.next(idOf(tenant, datasetId));
      return isThere;
    },
    run: () =>
      defer(() => {
        const owner = randomUUID();
        return defer(() => from(store.claimBuild(owner, claimMs))).pipe(
          switchMap((claimed) => {
            if (claimed === undefined) return race(wake$, timer(pollMs)).pipe(take(1), ignoreElements());
            const over$ = stopped$.pipe(filter((id) => id === idOf(claimed.tenant, claimed.datasetId)));
            return from(rulesOf(claimed.tenant, claimed.datasetId)).pipe(
              switchMap((rules) => buildGraph({ ...options, claimed, owner, ttlMs: claimMs, rules }, over$)),
            );
          }),
          catchError((error: unknown) => {
            if (!EngineError.is(error) || error.code !== 'STORE_UNAVAILABLE') onError(error);
            return timer(PAUSE_MS).pipe(switchMap(() => EMPTY));
          }),
          repeat(),
        );
      }),
  };
}

interface BuildParts extends BuildServices {
  readonly claimed: ClaimedBuild;
  readonly owner: string;
  readonly ttlMs: number;
  readonly rules: VersionedRules;
}

/** Chunks of which a refusal tells. */
const MAX_TOLD = 5;

/** @throws EngineError BAD_REQUEST for ids of chunks that the dataset does not have */
async function requireChunks(
  { store }: BaseParts,
  tenant: string,
  datasetId: string,
  ids: readonly string[],
): Promise<void> {
  const there = await chunksOfDataset(store, tenant, datasetId, ids);
  const missing = [...new Set(ids)].filter((id) => !there.has(id));
  if (missing.length === 0) return;
  const more = missing.length > MAX_TOLD ? ' …' : '';
  const told = missing.slice(0, MAX_TOLD).map((id) => JSON.stringify(id));
  const message = `The dataset "${datasetId}" has no chunk ${told.join(', ')}${more} (${missing.length} of the ${ids.length} in "chunks" are missing); leave them out.`;
  throw new EngineError('BAD_REQUEST', message);
}

/** Builds one graph; completes when it is done, has failed, or is none of ours any more. */
function buildGraph(parts: BuildParts, over$: Observable<unknown>): Observable<BuildReport> {
  const { claimed, owner, ttlMs } = parts;
  const { tenant, datasetId, begun } = claimed;
  const { store } = parts.parts;
  return new Observable((subscriber) => {
    const reports$ = new Subject<BuildReport>();
    const report = (progress: BuildProgress): void => reports$.next({ tenant, datasetId, progress });
    const { read: rules, version: rulesVersion } = parts.rules;
    const work = new BuildWork({ ...parts, rules, rulesVersion, report });
    // A model may take longer for one chunk than a claim holds.
    const kept$ = interval(Math.ceil(ttlMs / 3)).pipe(
      switchMap(() => work.tell({})),
      ignoreElements(),
    );
    const idle = begun - (work.progress.begunAtProgress ?? 0);
    const built$ =
      idle > MAX_BEGUN
        ? defer(() =>
            from(work.end('FAIL', `${MAX_BEGUN} processes were lost while they built it, and did nothing of it.`)),
          )
        : concat(
            stream(buildPipeline, { datasetId }, { services: work }),
            defer(() =>
              from(work.end('DONE', work.progress.missing.length === 0 ? 'done' : 'done, with what there is')),
            ),
          );
    const work$ = built$.pipe(catchError((error: unknown) => from(failed(work, error))));
    const done$ = new Subject<void>();
    const subscription = merge(
      reports$.pipe(takeUntil(done$)),
      kept$.pipe(takeUntil(done$)),
      concat(
        work$.pipe(ignoreElements()),
        defer(() => {
          done$.next();
          return EMPTY;
        }),
      ),
    )
      .pipe(takeUntil(over$))
      .subscribe(subscriber);
    subscription.add(() => {
      // What cannot be given back is free when its claim is over.
      store.releaseBuild(owner, tenant, datasetId).catch(() => {});
    });
    return subscription;
  });
}

async function failed(work: BuildWork, error: unknown): Promise<void> {
  if (EngineError.is(error) && (error.code === 'STORE_UNAVAILABLE' || error.code === 'INTERNAL')) throw error;
  // It was stopped, cleared or taken over.
  if (EngineError.is(error) && (error.code === 'CONFLICT' || error.code === 'NOT_FOUND')) return;
  const { code, message } = toEngineError(error, 'INTERNAL');
  await work.end('FAIL', `${message} [${code}]`);
}
