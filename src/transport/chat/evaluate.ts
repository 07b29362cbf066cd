/** Measuring the answers of chats, by questions of which it is known what good answers are made of. */
import { concatMap, from, map, type Observable, of, toArray } from 'rxjs';
import { z } from 'zod';
import { answerJson } from '../../chat/evaluation/answer-json.js';
import { questionSchema } from '../../chat/evaluation/golden-file.js';
import { type GoldenEnd, goldenResult } from '../../chat/evaluation/golden-result.js';
import { type Judge, judgeAnswer, judgeOf, VERDICTS } from '../../chat/evaluation/judge-answer.js';
import { TURN_VARIABLE, turnSettingsSchema } from '../../chat/service/chat-settings.js';
import { servicesOfTenant } from '../../hosting/tenant-services.js';
import type { Json, JsonObject } from '../../json.js';
import { success } from '../envelope.js';
import { forClient } from '../http/client-left.js';
import { takePlace } from '../http/guards.js';
import { given } from '../http/input.js';
import { type RouteGroup, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { string, whole } from '../shapes.js';
import { askGolden } from './ask-golden.js';
import { chatOfRequest } from './start-chat.js';

/** Questions of one request: a client with more sends several, and can stop in between. */
const MAX_QUESTIONS = 10;

const bodySchema = z.strictObject({
  questions: z.array(questionSchema).min(1).max(MAX_QUESTIONS).describe('Questions in the form of golden files.'),
  chat_id: z
    .string()
    .nullish()
    .describe('The assistant that answers; default: one that searches all datasets of the tenant.'),
  ...turnSettingsSchema.shape,
  judge: z
    .string()
    .max(200)
    .nullish()
    .describe('Model that judges each answer, in two calls; empty: the default. Absent: none judges.'),
});

const answerShape = z.looseObject({
  id: string,
  category: string,
  route: string.describe('A, B or C for a short circuit, failed, else how it was grounded: KB, MCP, HYBRID or SYSTEM.'),
  keywordPass: z.boolean(),
  sourcePass: z.boolean(),
  citationPrecision: z.number().optional().describe('0 to 1; absent without citations.'),
  wrongShortcut: z.boolean(),
  judgement: z.object({ verdict: z.enum(VERDICTS), reasons: z.array(string) }).optional(),
  response: string.optional().describe('Absent when the chat failed.'),
  sources: z.array(string).optional(),
  error: string.optional().describe('Code of the error of a chat that failed.'),
  ms: whole.optional(),
  first_token_ms: whole.optional(),
  tokens: whole.optional().describe('Of the model that answered.'),
});

const resultShape = z.looseObject({
  questions: z.array(answerShape),
  judged_by: string.optional().describe('Name of the model that judged.'),
});

/** What one request measures. */
export type MeasuredAnswers = z.output<typeof resultShape>;

export const chatEvaluationRoutes: RouteGroup = {
  name: 'chat evaluation',
  description: 'How good the answers of chats are.',
  routes: [
    route('POST /chat/evaluate', {
      summary: 'Asks golden questions to a chat and measures its answers; neither runs nor messages are kept',
      body: bodySchema,
      data: resultShape,
      handle: async ({ tenant, body, exchange }, parts) => {
        const giveBack = takePlace(parts.shares.trials, tenant, 'trials');
        try {
          const measured = await forClient(exchange, await measure(parts, tenant, body));
          return measured === undefined ? undefined : success(measured);
        } finally {
          giveBack();
        }
      },
    }),
  ],
};

/** @throws EngineError NOT_FOUND for a chat that is not there or another tenant's, MODEL_UNKNOWN for a judge */
async function measure(
  parts: ServerParts,
  tenant: string,
  { questions, chat_id, judge: judgeId, ...body }: z.output<typeof bodySchema>,
): Promise<Observable<JsonObject>> {
  const { config, now } = parts;
  const agentId = await chatOfRequest(parts, tenant, chat_id || undefined, undefined);
  const agent = await parts.stores.agents.find(tenant, agentId);
  const canvas = parts.openCanvas(agent?.dsl ?? {});
  // As in a chat, but it neither reads nor writes what chats remember, and takes no answer from a cache.
  const { remember: _, chats: __, caches: ___, ...services } = servicesOfTenant(parts, tenant);
  const judge = judgeId === undefined || judgeId === null ? undefined : judgeOf(services.models, judgeId);
  const { dataset_ids, tools, llm_id, options } = body;
  const settings = given({ dataset_ids, tools, llm_id: llm_id || undefined, options: options && given(options) });
  const running = {
    services: { ...services, session: { id: '', agent: agentId } },
    variables: Object.keys(settings).length === 0 ? {} : { [TURN_VARIABLE]: settings as Json },
    timeoutMs: config.runTimeoutMs,
    maxSteps: config.maxSteps,
    concurrency: config.runConcurrency,
    now,
  };
  // One after the other, each when the tenant may begin a chat, so that an evaluation is to others as one person who asks.
  return from(questions).pipe(
    concatMap((question) =>
      (parts.chatLimits?.admit({ tenant }) ?? of(undefined)).pipe(
        concatMap(() => askGolden(canvas, question, running)),
        concatMap((end) => judged(judge, { question, end })),
      ),
    ),
    toArray(),
    map((ended) => {
      const { answers } = goldenResult(ended, judge?.by);
      return { questions: answers.map(answerJson), ...(judge !== undefined && { judged_by: judge.by }) };
    }),
  );
}

function judged(judge: Judge | undefined, one: GoldenEnd): Observable<GoldenEnd> {
  if (judge === undefined) return of(one);
  return judgeAnswer(judge, one.question, one.end).pipe(map((judgement) => ({ ...one, judgement })));
}
