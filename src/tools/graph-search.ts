import { defer, finalize, map, merge, type Observable, Subject } from 'rxjs';
import { toolFailed } from '../adapters/failures.js';
import { GRAPH_SEARCHES } from '../knowledge/graph/graph-search.js';
import type { RetrievalRequest, RetrievedPassage } from '../knowledge/retriever.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { oneOf, queryArgument, text, wholeNumber } from './fields.js';
import { defineSearch, NOTHING_FOUND, type Passage, searchResult } from './results.js';
import type { ToolEvent } from './tool.js';
import { requireService } from './tool-services.js';

/** Candidates of the search by words that a walk begins with. */
const CANDIDATES = 1_024;

/** Asks the graphs of datasets; each passage comes with the reason why it is there. Errors: GRAPH_MISSING and those of the `Retriever`. */
export const graphSearch = defineSearch({
  component: 'GraphSearch',
  name: 'graph_search',
  summary: 'Asks what names in documents have to do with each other, and gives the passages that show it.',
  arguments: { query: queryArgument('A question that names what it is about.') },
  params: {
    datasets: text('Names or ids of datasets with a graph, with commas between them.'),
    kind: oneOf(
      GRAPH_SEARCHES,
      'local',
      'local (around entities), global (over communities), drift (both), path (between two entities) or rank (a walk); default local.',
    ),
    max_calls: wholeNumber(
      0,
      'Calls of a model that global and drift may make, 0 to 100; default 0: they work by rules.',
      {
        min: 0,
        max: 100,
      },
    ),
    llm_id: text('Id of that model; empty for the default one.'),
    top_n: wholeNumber(8, 'Passages at most, 1 to 100; default 8.', { max: 100 }),
  },
  search({ query }, { params, services, trace }): Observable<ToolEvent> {
    const retriever = requireService(services, 'retriever', 'Tool "graph_search"');
    const datasets = params.datasets.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
    if (datasets.length === 0) throw toolFailed('No dataset is selected. Name one in "datasets".');
    const request: RetrievalRequest = {
      question: query.trim(),
      datasets,
      topN: params.top_n,
      topK: CANDIDATES,
      similarityThreshold: 0,
      keywordWeight: 0.5,
      rerankId: '',
      crossLanguages: [],
      useGraph: true,
      graph: params.kind,
      ...(params.max_calls > 0 && { graphBudget: { calls: params.max_calls }, graphModel: params.llm_id.trim() }),
      useContents: false,
      filter: {},
      ...(trace !== undefined && { headers: { ...trace } }),
    };
    return defer(() => {
      const usage$ = new Subject<ToolEvent>();
      const onGraphCall: RetrievalRequest['onGraphCall'] = (usage) => usage$.next({ type: 'usage', ...usage });
      const found$ = fromAbortable((signal) => retriever.search({ ...request, onGraphCall }, signal)).pipe(
        map((found) => (found.length === 0 ? NOTHING_FOUND : searchResult(found.map(passageOf), found.map(recordOf)))),
        finalize(() => usage$.complete()),
      );
      return merge(usage$, found$);
    });
  },
});

function passageOf({ id, content, documentId, documentName, similarity, record, metadata }: RetrievedPassage): Passage {
  return {
    ...{ id, content, documentId, title: documentName, score: similarity },
    ...(record && { record }),
    ...(metadata && { metadata }),
  };
}

function recordOf({ id, content, documentId, documentName, datasetId, similarity, record }: RetrievedPassage) {
  return {
    ...{ id, content, document_id: documentId, document: documentName, dataset_id: datasetId, similarity },
    why: record?.why ?? null,
  };
}
