import { EngineError } from '../errors.js';
import { chunkIds } from '../knowledge/base/chunk-ids.js';
import { knowledgeJob } from '../knowledge/base/jobs.js';
import type { BaseDraft, ChunkerConfig, DocumentText } from '../knowledge/base/ports.js';
import { parentsAmong } from '../knowledge/chunkers/with-children.js';
import type { ChunkRecord } from '../records/knowledge.js';
import type { IngestionWork, StepPlace } from './work.js';

/** Chunks that are stored in one statement: a run waits for some of these before its log is written. */
const STORED_AT_ONCE = 8;

/** Cuts the text of a document and stores its chunks; an empty id is that of no text. Gives how many there are. */
export function storeChunks(
  work: IngestionWork,
  place: StepPlace,
  { textId, config }: { readonly textId: string; readonly config: ChunkerConfig },
  signal: AbortSignal,
): Promise<{ chunks: number }> {
  const { parts, tenant, document } = work.options;
  return work.once(
    place,
    ({ chunks }) => `cut into ${chunks} chunks`,
    async () => {
      const text = textId === '' ? { text: '' } : await parts.texts.read(tenant, textId);
      await work.characters(text.text.length);
      const idOf = chunkIds(document.id);
      let batch: ChunkRecord[] = [];
      let chunks = 0;
      const flush = async (): Promise<void> => {
        signal.throwIfAborted();
        await parts.store.putChunks(tenant, document.id, document.attempt, batch);
        work.chunks = chunks;
        await work.share(place, (batch.at(-1)?.end ?? 0) / (text.text.length || 1));
        batch = [];
      };
      const drafts = [...(await draftsOf(work, text, config, signal))];
      const parents = parentsAmong(drafts);
      /** Ids of the first children of parents. */
      const first = new Map<number, string>();
      for (const [at, draft] of drafts.entries()) {
        // What has parts is found by them.
        if (parents.has(at)) continue;
        const id = idOf(draft.text);
        const record = recordOf(work, draft, text, { id, index: chunks });
        const { parent: position = -1 } = draft;
        const parent = drafts[position];
        batch.push(parent === undefined ? record : { ...record, parent: parentOf(position, parent, id, first) });
        chunks += 1;
        if (batch.length === STORED_AT_ONCE) await flush();
      }
      await flush();
      return { chunks };
    },
  );
}

/** The pieces of a text: by the chunker of the services, or by a built-in one, which works in a thread on long texts. */
async function draftsOf(
  { options }: IngestionWork,
  document: DocumentText,
  config: ChunkerConfig,
  signal: AbortSignal,
): Promise<Iterable<BaseDraft>> {
  const { chunker, threads } = options;
  if (chunker !== undefined && config.cuts === undefined) return chunker.chunk(document, config);
  return knowledgeJob('chunk', { document, config }, { name: options.document.name, threads, signal });
}

/** What a child has of its parent: the text only the first one. */
function parentOf(
  position: number,
  draft: BaseDraft,
  id: string,
  firstOf: Map<number, string>,
): NonNullable<ChunkRecord['parent']> {
  const first = firstOf.get(position) ?? id;
  firstOf.set(position, first);
  const { start, end, tokens, text, pageStarts } = draft;
  return {
    first,
    start,
    end,
    tokens,
    positions: positionsOf(draft),
    ...(first === id && { text }),
    ...(pageStarts !== undefined && { pageStarts }),
  };
}

/** Boxes, or where none are known the pages. */
function positionsOf({ page, pages, positions }: BaseDraft): readonly (readonly number[])[] {
  return positions ?? (pages ?? (page === undefined ? [] : [page])).map((on) => [on, 0, 0, 0, 0]);
}

function recordOf(
  { options }: IngestionWork,
  draft: BaseDraft,
  { text }: DocumentText,
  { id, index: position }: { readonly id: string; readonly index: number },
): ChunkRecord {
  const { parts, document } = options;
  if (text.slice(draft.start, draft.end) !== draft.text) {
    const where = `[${draft.start}, ${draft.end})`;
    throw new EngineError(
      'INTERNAL',
      `The chunker gave a chunk of "${document.name}" that is not its text at ${where}.`,
    );
  }
  const now = parts.now();
  const { start, end, tokens, question, page = null, headings = [], context = '', tags = [], pageStarts } = draft;
  return {
    id,
    datasetId: document.datasetId,
    documentId: document.id,
    index: position,
    text: draft.text,
    tokens,
    start,
    end,
    page,
    positions: positionsOf(draft),
    headings,
    context,
    tags,
    ...(pageStarts !== undefined && { pageStarts }),
    questions: question === undefined ? [] : [question],
    keywords: [],
    isAvailable: true,
    createdAt: now,
    updatedAt: now,
  };
}
