import { EMPTY, filter, type Observable } from 'rxjs';
import { EngineError } from '../errors.js';
import { embedWith } from '../knowledge/base/embed-texts.js';
import type { LocalModel } from '../knowledge/base/minilm/local-model.js';
import { type BaseParts, modelOf } from '../knowledge/base/parts.js';
import { languageOf } from '../knowledge/words/language.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { requireObject, requireWhole } from '../operators/invalid-option.js';
import type { ChunkRecord, DatasetRecord } from '../records/knowledge.js';
import type { VectorGap } from '../records/knowledge-store.js';
import { lookAgain } from './look-again.js';

/** How vectors are made in the background. */
export interface BackgroundOptions {
  readonly parts: BaseParts;
  /** Milliseconds after which is looked for what other processes have parsed or left. @default 600,000 */
  readonly pollMs?: number | undefined;
  /** Called with every error but STORE_UNAVAILABLE; what failed is tried again with the next look. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Documents of one look. */
const DOCUMENTS = 20;
/** Chunks whose vectors are stored together: some seconds of work that a killed process loses. */
const CHUNKS = 8;
/** Documents by whose beginnings the language of a dataset is told. */
const SAMPLE = 32;
/** Share of documents in English, and of ones in Chinese, Japanese or Korean, that a dataset in English has at least and at most. */
const ENGLISH_SHARE = 0.5;
const FOREIGN_SHARE = 0.1;

/**
 * Makes the vectors of documents by the local model, one passage after another, when they are searchable by words already: of datasets in English
 * that name no model. What is stored is not made again, whatever process goes on. Cold, emits nothing, never ends; completes at once without a
 * local model.
 *
 * ```text
 * documents   a---b--------
 * vectors     (aaaaaa)(bbb)
 * result      -------------
 * ```
 *
 * @throws EngineError OPTION_INVALID
 */
export function embedInBackground(options: BackgroundOptions): Observable<never> {
  requireObject('embedInBackground', 'options', options, 'an object with "parts"');
  const { parts, pollMs = 600_000, onError = () => {} } = options;
  requireObject('embedInBackground', 'parts', parts, 'the parts of a knowledge base');
  requireWhole('embedInBackground', 'pollMs', pollMs, 1);
  const { local } = parts;
  if (local === undefined) return EMPTY;
  const report = (error: unknown): void => {
    if (!EngineError.is(error) || error.code !== 'STORE_UNAVAILABLE') onError(error);
  };
  return lookAgain(() => fromAbortable((signal) => embedAll(parts, local, report, signal)), {
    // Documents that are parsed during a look may be behind it already.
    news$: parts.hub.progress$.pipe(filter(({ run }) => run === 'DONE')),
    pollMs,
    onError: report,
  });
}

/** Fills all gaps that there are. A document that fails keeps others from nothing. */
async function embedAll(
  parts: BaseParts,
  local: LocalModel,
  report: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  const datasets = new Map<string, DatasetRecord | undefined>();
  const fitting = async (gap: VectorGap): Promise<DatasetRecord | undefined> => {
    const key = JSON.stringify([gap.tenant, gap.datasetId]);
    if (!datasets.has(key)) datasets.set(key, await englishDataset(parts, gap));
    return datasets.get(key);
  };
  let last: VectorGap | undefined;
  for (;;) {
    const gaps = await parts.store.vectorGaps(local.name, last, DOCUMENTS);
    last = gaps.at(-1);
    if (last === undefined) return;
    for (const gap of gaps) {
      signal.throwIfAborted();
      const dataset = gap.isOpen ? await fitting(gap) : undefined;
      if (dataset === undefined) continue;
      try {
        await fillGap(parts, local, { gap, dataset, signal });
      } catch (error) {
        signal.throwIfAborted();
        if (EngineError.is(error) && /^(?:STORE|MODEL)_/.test(error.code)) throw error;
        report(error);
      }
    }
  }
}

async function fillGap(
  parts: BaseParts,
  { name, passages }: LocalModel,
  { gap, dataset, signal }: { readonly gap: VectorGap; readonly dataset: DatasetRecord; readonly signal: AbortSignal },
): Promise<void> {
  const { tenant, documentId } = gap;
  let last: ChunkRecord | undefined;
  for (;;) {
    signal.throwIfAborted();
    const chunks = await parts.store.chunksWithoutVector(tenant, documentId, name, last, CHUNKS);
    last = chunks.at(-1);
    if (last === undefined) return;
    await embedWith(parts, { tenant, documentId, dataset, chunks, signal }, { name, embedder: passages });
  }
}

/** The dataset, if the local model is its model and its documents are in English, by their beginnings. */
async function englishDataset(parts: BaseParts, { tenant, datasetId }: VectorGap): Promise<DatasetRecord | undefined> {
  const dataset = await parts.store.findDataset(tenant, datasetId);
  if (dataset === undefined || modelOf(parts, tenant, dataset) === undefined) return undefined;
  const page = { offset: 0, limit: SAMPLE, orderBy: 'createdAt', descending: true } as const;
  const { items } = await parts.store.listDocuments(tenant, { ...page, datasetIds: [datasetId], runs: ['DONE'] });
  const languages: string[] = [];
  for (const { id } of items) {
    const [first] = await parts.store.chunksAfter(tenant, id, undefined, 1);
    if (first !== undefined) languages.push(languageOf(first.text));
  }
  const shareOf = (...wanted: string[]): number =>
    languages.filter((one) => wanted.includes(one)).length / languages.length;
  const isEnglish = shareOf('en') >= ENGLISH_SHARE && shareOf('zh', 'ja', 'ko') <= FOREIGN_SHARE;
  return isEnglish ? dataset : undefined;
}
