/** How documents were parsed: how many are in each state, and the steps of each. */
import { z } from 'zod';
import type { DocumentRecord, IngestionStep } from '../../records/knowledge.js';
import { type DocumentRun, RUN_STATES } from '../../records/knowledge.js';
import { success } from '../envelope.js';
import type { RouteGroup, RouteRequest } from '../http/route.js';
import { looseRoute } from '../ragflow/dialect.js';
import { loosePage, loosePageSize, parameter, parameters } from '../ragflow/fields.js';
import { anyObject, defineView, formatTime, string, timeFields, whole } from '../shapes.js';
import { parsingStatus } from './datasets.js';
import { type FoundDataset, missing, ownDataset, refused } from './find.js';

/** Runs that a process has begun. */
const BEGUN: readonly DocumentRun[] = ['RUNNING', 'CANCEL', 'DONE', 'FAIL'];

const times = timeFields<'createdAt', 'updatedAt'>('createdAt', 'updatedAt');

const logView = defineView<DocumentRecord, [tenant: string]>()({
  id: [string.describe('That of the document.'), 'id'],
  document_id: [string, 'id'],
  document_name: [string, 'name'],
  document_suffix: [string, 'suffix'],
  document_type: [string, 'type'],
  kb_id: [string, 'datasetId'],
  tenant_id: [string, (_, tenant) => tenant],
  parser_id: [string, 'chunkMethod'],
  pipeline_id: [string.nullable(), 'pipelineId'],
  task_type: [string, () => 'Parse'],
  operation_status: [string.describe('0 to 4, as `run`.'), ({ run }) => String(RUN_STATES.indexOf(run))],
  progress: [z.number(), 'progress'],
  progress_msg: [string, 'progressMsg'],
  process_begin_at: [string.nullable(), ({ beganAt }) => (beganAt === null ? null : formatTime(beganAt))],
  process_duration: [z.number().describe('Seconds.'), ({ durationMs }) => durationMs / 1_000],
  ...times,
});

const stepShape = z.looseObject({ name: string, output: z.unknown(), started_at: whole, finished_at: whole });

const logsQuery = z.looseObject({
  page: loosePage,
  page_size: loosePageSize,
  log_type: parameter.describe(
    '"file": the documents; "dataset" (default): what was made of all of them, which is nothing here.',
  ),
  keywords: parameter,
  desc: parameter,
  operation_status: parameters,
});

const noAuthorization = (): string => 'no authorization';

export const ingestionLogRoutes: RouteGroup = {
  name: 'parsing',
  description: 'How documents become searchable.',
  routes: [
    looseRoute('GET /datasets/:dataset/ingestions/summary', {
      summary: 'How much a dataset holds, and how many documents are in each state',
      finds: ownDataset(noAuthorization),
      data: z.looseObject({ doc_num: whole, chunk_num: whole, token_num: whole, status: z.record(string, whole) }),
      handle: async ({ tenant, params, found: { base } }) => {
        const found = await base.datasets.find(tenant, params.dataset);
        if (found === undefined) throw missing(noAuthorization());
        const { documents, chunks, tokens } = found.counts;
        const runs = (await base.datasets.runCounts(tenant, [params.dataset])).get(params.dataset) ?? {};
        return success({ doc_num: documents, chunk_num: chunks, token_num: tokens, status: parsingStatus(runs) });
      },
    }),
    looseRoute('GET /datasets/:dataset/ingestions', {
      summary: 'How documents were parsed',
      finds: ownDataset(noAuthorization),
      query: logsQuery,
      data: z.looseObject({ total: whole, logs: z.array(logView.shape) }),
      handle: list,
    }),
    looseRoute('GET /datasets/:dataset/ingestions/:log', {
      summary: 'How a document was parsed, with the steps that are finished',
      finds: ownDataset(noAuthorization),
      data: logView.shape.extend({ steps: z.array(stepShape), dsl: anyObject }),
      handle: async ({ tenant, params, found: { base } }) => {
        const document = await base.documents.find(tenant, params.dataset, params.log);
        if (document === undefined || !BEGUN.includes(document.run)) throw missing('Log not found');
        const steps = await base.parts.store.steps(tenant, document.id, document.attempt);
        return success({ ...logView.of(document, tenant), steps: steps.map(stepOf), dsl: {} });
      },
    }),
  ],
};

async function list({
  tenant,
  params,
  query,
  found: { base },
}: RouteRequest<'dataset', typeof logsQuery, z.ZodUnknown, FoundDataset>) {
  const { log_type: type = 'dataset', page, page_size: limit, keywords, desc, operation_status } = query;
  if (type !== 'dataset' && type !== 'file') throw refused('Invalid "log_type", expected "dataset" or "file"');
  if (type === 'dataset') return success({ total: 0, logs: [] });
  const wanted = BEGUN.filter((run) => operation_status.includes(String(RUN_STATES.indexOf(run))));
  const { items, total } = await base.documents.list(tenant, {
    datasetIds: [params.dataset],
    runs: operation_status.length === 0 ? BEGUN : wanted,
    ...(keywords && { keywords }),
    offset: (page - 1) * limit,
    limit,
    orderBy: 'createdAt',
    descending: desc?.toLowerCase() !== 'false',
  });
  return success({ total, logs: items.map((document) => logView.of(document, tenant)) });
}

function stepOf({ name, output, startedAt, finishedAt }: IngestionStep): object {
  return { name, output, started_at: startedAt, finished_at: finishedAt };
}
