import { map, type Observable } from 'rxjs';
import { toolFailed } from '../../adapters/failures.js';
import type { RetrievalRequest, RetrievedPassage, Retriever } from '../../knowledge/retriever.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { queryArgument, text, wholeNumber } from '../fields.js';
import { defineSearch, NOTHING_FOUND, type Passage, searchResult } from '../results.js';
import type { ToolEvent } from '../tool.js';
import { requireService } from '../tool-services.js';

/** Candidates that are looked at, and the least similarity of a passage. */
const CANDIDATES = 1_024;
const LEAST_SIMILARITY = 0.2;
const KEYWORD_WEIGHT = 0.5;

/** Looks words up in datasets, in all that there are unless some are named. Errors: those of the `Retriever`. */
export const knowledgeLookup = defineSearch({
  component: 'KnowledgeLookup',
  name: 'knowledge_lookup',
  summary: 'Looks words up in the documents of this server and gives the passages that hold them.',
  arguments: { query: queryArgument('What to look for: key words, not a sentence.') },
  params: {
    datasets: text('Names or ids of datasets, with commas between them; default all.'),
    top_n: wholeNumber(5, 'Passages at most, 1 to 100; default 5.', { max: 100 }),
  },
  search({ query }, { params, services, trace }): Observable<ToolEvent> {
    const retriever = requireService(services, 'retriever', 'Tool "knowledge_lookup"');
    const named = params.datasets.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
    return fromAbortable(async (signal): Promise<readonly RetrievedPassage[]> => {
      const datasets = named.length > 0 ? named : await allDatasets(retriever, signal);
      signal.throwIfAborted();
      const request = requestOf(query.trim(), datasets, params.top_n);
      return datasets.length === 0
        ? []
        : retriever.search({ ...request, ...(trace && { headers: { ...trace } }) }, signal);
    }).pipe(
      map((found) => (found.length === 0 ? NOTHING_FOUND : searchResult(found.map(passageOf), found.map(recordOf)))),
    );
  },
});

async function allDatasets(retriever: Retriever, signal: AbortSignal): Promise<readonly string[]> {
  if (retriever.datasets !== undefined) return retriever.datasets(signal);
  throw toolFailed('the datasets of this server are not known; name some in "datasets"');
}

function requestOf(question: string, datasets: readonly string[], topN: number): RetrievalRequest {
  return {
    question,
    datasets,
    topN,
    topK: CANDIDATES,
    similarityThreshold: LEAST_SIMILARITY,
    keywordWeight: KEYWORD_WEIGHT,
    rerankId: '',
    crossLanguages: [],
    useGraph: false,
    useContents: false,
    filter: {},
  };
}

function passageOf({ id, content, documentId, documentName, similarity, record, metadata }: RetrievedPassage): Passage {
  return {
    id,
    content,
    documentId,
    title: documentName,
    score: similarity,
    ...(record && { record }),
    ...(metadata && { metadata }),
  };
}

function recordOf({ id, content, documentId, documentName, datasetId, similarity }: RetrievedPassage) {
  return { id, content, document_id: documentId, document: documentName, dataset_id: datasetId, similarity };
}
