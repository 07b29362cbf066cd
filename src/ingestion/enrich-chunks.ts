import type { ChunkRecord } from '../records/knowledge.js';
import type { IngestionWork } from './work.js';

/** Chunks that are enriched in one call. */
const BATCH = 16;

/** As many as RAGFlow takes. */
const MAX_KEYWORDS = 32;
const MAX_QUESTIONS = 10;

/**
 * Gives chunks keywords and questions where the settings of the document ask for them (`auto_keywords`, `auto_questions`); chunks that have
 * some already stay as they are. Gives how many chunks got some.
 */
export async function enrichChunks({ options }: IngestionWork, signal: AbortSignal): Promise<number> {
  const { parts, tenant, document, enrich } = options;
  const { auto_keywords: keywords, auto_questions: questions } = document.parserConfig;
  const wanted = { tenant, keywords: countOf(keywords, MAX_KEYWORDS), questions: countOf(questions, MAX_QUESTIONS) };
  if (enrich === undefined || wanted.keywords + wanted.questions === 0) return 0;
  let enriched = 0;
  let last: ChunkRecord | undefined;
  for (;;) {
    signal.throwIfAborted();
    const chunks = await parts.store.chunksAfter(tenant, document.id, last, BATCH, false);
    last = chunks.at(-1);
    if (last === undefined) return enriched;
    const bare = chunks.filter((chunk) => chunk.keywords.length + chunk.questions.length === 0);
    const found = bare.length === 0 ? [] : await enrich(bare, wanted, signal);
    for (const [at, chunk] of bare.entries()) {
      const one = found[at];
      if (one === undefined || one.keywords.length + one.questions.length === 0) continue;
      await parts.store.updateChunk(tenant, document.id, chunk.id, {
        keywords: one.keywords.slice(0, wanted.keywords),
        questions: one.questions.slice(0, wanted.questions),
        updatedAt: parts.now(),
      });
      enriched += 1;
    }
  }
}

function countOf(given: unknown, most: number): number {
  return typeof given === 'number' && given > 0 ? Math.min(most, Math.floor(given)) : 0;
}
