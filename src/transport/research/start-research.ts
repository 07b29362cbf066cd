/** Starts researches, finds them, and reads what they did. */
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { eventOf } from '../../hosting/event-frame.js';
import { noRun } from '../../hosting/refusals.js';
import type { StartedRun } from '../../hosting/start.js';
import { servicesOfTenant } from '../../hosting/tenant-services.js';
import { isJsonObject, type Json } from '../../json.js';
import type { RunRecord } from '../../records/runs.js';
import { EMPTY_PICTURE, foldResearch, type ResearchPicture } from '../../research/deep/fold-research.js';
import type { ResearchFinal } from '../../research/research-events.js';
import { openResearchAgent, researchAgentId } from '../../research/service/research-document.js';
import { toResearchEvent } from '../../research/service/research-frames.js';
import { RESEARCH_VARIABLE, researchSettingsSchema } from '../../research/service/research-settings.js';
import { readTraceContext } from '../../trace-context.js';
import { knowledgeOf, notYourDataset, requireDatasets } from '../datasets/find.js';
import { given, isTruthy } from '../http/input.js';
import type { ServerParts } from '../server-parts.js';

/** Characters of a question. */
const MAX_QUESTION = 20_000;

/** A research that is asked for. */
export const researchSchema = z.looseObject({
  question: z.string({ error: 'expected a text' }).describe('What is to be found out.'),
  ...researchSettingsSchema.shape,
  stream: z.boolean().nullish().describe('false: waits for the report. Default true.'),
  user_id: z.string().nullish().describe("The client's name for its user."),
  detach: z.unknown().optional().describe('false: ends 30 s after its last client has left. Default true.'),
});

/** Starts one; it outlives its clients unless it is said otherwise. @throws EngineError QUESTION_INVALID, PLAN_REJECTED, BUDGET_EXHAUSTED for a day whose limits are used up, NOT_FOUND for a dataset; as `startTurn` */
export async function startResearch(
  parts: ServerParts,
  tenant: string,
  body: z.output<typeof researchSchema>,
  headers: IncomingHttpHeaders,
): Promise<StartedRun> {
  const { question, user_id, detach = true } = body;
  const { dataset_ids, depth, budget, web, llm_id, plan, approve, clarify, output, tools } = body;
  if (question.trim() === '') throw new EngineError('QUESTION_INVALID', 'There is no question: `question` is empty.');
  if (question.length > MAX_QUESTION) {
    throw new EngineError(
      'QUESTION_INVALID',
      `The question has ${question.length} characters; ${MAX_QUESTION} are allowed.`,
    );
  }
  if (dataset_ids?.length) await requireDatasets(await knowledgeOf(parts), tenant, dataset_ids, notYourDataset);
  const settings = given({
    ...{ dataset_ids, depth, budget: budget && given(budget), web, llm_id: llm_id || undefined },
    ...{ plan, approve, clarify, output, tools },
  });
  const services = servicesOfTenant(parts, tenant);
  await services.spending?.requireLeft();
  if (isJsonObject(plan)) {
    const { checkGivenPlan } = await import('../../components/researching/given-plan.js');
    await checkGivenPlan(plan, question.trim(), settings, services);
  }
  const agentId = await openResearchAgent(parts.stores.agents, tenant, parts.now());
  const { live } = await parts.startTurn(
    { tenant, agentId, fallback: 'draft' },
    {
      query: question,
      ...{ inputs: {}, files: [], headers: {}, history: [] },
      ...given({ userId: user_id || undefined }),
      ...{ isReleased: false, migrates: false, answersForm: false, returnsTrace: false, streams: true },
      detached: isTruthy(detach),
      variables: Object.keys(settings).length === 0 ? {} : { [RESEARCH_VARIABLE]: settings as Json },
      trace: readTraceContext(headers),
    },
  );
  return live;
}

/** A research of the tenant. @throws EngineError NOT_FOUND for any other run, without a hint */
export async function findResearchRun({ host }: ServerParts, tenant: string, run: string): Promise<RunRecord> {
  const record = await host.record(tenant, run);
  if (record === undefined || record.agentId !== researchAgentId(tenant)) throw noRun();
  return record;
}

/** Bounds of one reading from the log. */
const PAGE = { maxEvents: 512, maxBytes: 512 * 1024 };

/** What a research did so far, from its log, and its report when there is one. */
export async function readResearch(
  { stores }: ServerParts,
  tenant: string,
  { id, sessionId }: Pick<RunRecord, 'id' | 'sessionId'>,
): Promise<{ readonly picture: ResearchPicture; readonly final: ResearchFinal | undefined }> {
  let picture = EMPTY_PICTURE;
  let final: ResearchFinal | undefined;
  let after = 0;
  for (;;) {
    const page = (await stores.log.read(tenant, id, after, PAGE)) ?? [];
    for (const stored of page) {
      after = stored.seq;
      if (stored.event === 'node-delta') continue;
      const source = eventOf(stored);
      // A process that was lost has told what is told anew.
      if (source.type === 'node-started' && source.retractFrom !== undefined) picture = EMPTY_PICTURE;
      const told = toResearchEvent(source, sessionId);
      if (told === undefined) continue;
      picture = foldResearch(picture, told);
      if (told.type === 'final') final = told;
    }
    if (page.length === 0) return { picture, final };
  }
}
