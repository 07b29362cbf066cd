/** Measuring how well datasets are searched, by questions of which it is known what should be found. */
import { concatMap, from, toArray } from 'rxjs';
import { z } from 'zod';
import { questionSchema } from '../../chat/evaluation/golden-file.js';
import { scoreHits } from '../../chat/evaluation/score-hits.js';
import type { KnowledgeBase } from '../../knowledge/base/knowledge-base.js';
import type { KnowledgeHit } from '../../knowledge/base/retrieval.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { success } from '../envelope.js';
import { forClient } from '../http/client-left.js';
import type { RouteGroup } from '../http/route.js';
import { strictRoute } from '../ragflow/dialect.js';
import { listField, textField, wholeField } from '../ragflow/fields.js';
import { string, whole } from '../shapes.js';
import { knowledgeOf, MAX_DATASETS, notYourDataset, requireDatasets } from './find.js';
import { textsOf } from './search-query.js';

/** Questions of one request: a client with more sends several, and can stop in between. */
const MAX_QUESTIONS = 50;
/** Passages that are found for a question. */
const MAX_PASSAGES = 30;
const USUAL_PASSAGES = 8;

const bodyShape = z.strictObject({
  dataset_ids: listField(textField()).min(1),
  questions: z.array(questionSchema).min(1).max(MAX_QUESTIONS).describe('Questions in the form of golden files.'),
  page_size: wholeField(1, MAX_PASSAGES).default(USUAL_PASSAGES).describe('Passages that count for each question.'),
});

const foundShape = z.object({ document: string, document_id: string, chunk_id: string, similarity: z.number() });

const resultShape = z.looseObject({
  questions: z.array(
    z.object({
      id: string,
      question: string,
      measures: z.record(z.string(), z.number()).describe('0 to 1; those that the question has expectations for.'),
      found: z.array(foundShape).describe('The best first.'),
      ms: whole.describe('How long the search took.'),
    }),
  ),
});

/** What one request measures. */
export type MeasuredQuestions = z.output<typeof resultShape>;

export const evaluationRoutes: RouteGroup = {
  name: 'retrieval',
  description: 'Passages of datasets that fit a question.',
  routes: [
    strictRoute('POST /datasets/evaluate', {
      summary: 'Measures the search of datasets by golden questions; no model writes, and nothing is kept',
      body: bodyShape,
      data: resultShape,
      handle: async ({ tenant, body, exchange }, parts) => {
        const base = await knowledgeOf(parts);
        const datasetIds = textsOf('dataset_ids', body.dataset_ids, MAX_DATASETS);
        await requireDatasets(base, tenant, datasetIds, notYourDataset);
        const { questions, page_size: pageSize } = body;
        // One after the other, so that an evaluation is to others as one person who searches.
        const measured$ = from(questions).pipe(
          concatMap((question) =>
            fromAbortable((signal) => measure(base, { tenant, datasetIds, pageSize, signal }, question)),
          ),
          toArray(),
        );
        const measured = await forClient(exchange, measured$);
        return measured === undefined ? undefined : success({ questions: measured });
      },
    }),
  ],
};

interface Place {
  readonly tenant: string;
  readonly datasetIds: readonly string[];
  readonly pageSize: number;
  readonly signal: AbortSignal;
}

async function measure(
  base: KnowledgeBase,
  { tenant, datasetIds, pageSize, signal }: Place,
  question: z.output<typeof questionSchema>,
) {
  const began = performance.now();
  const { hits } = await base.search(tenant, { question: question.question, datasetIds, pageSize }, signal);
  const ms = Math.round(performance.now() - began);
  const passages = hits.map(({ chunk, document }) => ({
    source: document.name,
    text: `${chunk.context}\n${chunk.text}`,
  }));
  return {
    id: question.id,
    question: question.question,
    measures: scoreHits(question, passages),
    found: hits.map(foundOf),
    ms,
  };
}

const foundOf = ({ chunk, document, similarity }: KnowledgeHit) => ({
  document: document.name,
  document_id: document.id,
  chunk_id: chunk.id,
  similarity,
});
