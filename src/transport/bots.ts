/** What chat pages on other sites call, with a key that may stand in a page. */
import { z } from 'zod';
import type { Document } from '../dsl/document.js';
import { beginParams, mode, prologue } from '../dsl/introspect.js';
import { EngineError } from '../errors.js';
import type { AgentRecord } from '../records/agents.js';
import { refuseOwnersFields } from './access/page-keys.js';
import { findAgent } from './agents/find-agent.js';
import { success } from './envelope.js';
import { type PathRequest, type RouteGroup, route } from './http/route.js';
import { answerShape, answerWithRun } from './runs/answer-run.js';
import { turnOf, turnQuery, turnSchema } from './runs/read-turn.js';
import type { ServerParts } from './server-parts.js';
import { traceOfMessage, traceShape } from './traces/trace-routes.js';

export const botRoutes: RouteGroup = {
  name: 'agentbots',
  description: 'Turns for chat pages on other sites, which hold a beta token.',
  routes: [
    route('POST /agentbots/:id/completions', {
      summary:
        'Runs a turn; streams unless `stream` is false. With the key of a page: of what is published, of the draft while nothing is; with another key: of the draft',
      access: 'bot',
      finds: findBot,
      query: turnQuery,
      body: turnSchema,
      answers: 'events',
      data: answerShape,
      handle: async ({ tenant, page, query, body, exchange, found }, parts) => {
        refuseOwnersFields({ page }, body, query);
        const turn = turnOf(body, query);
        const fallback = page === undefined ? 'draft' : 'published';
        const { live } = await parts.startTurn({ tenant, page, agentId: found.id, fallback }, turn);
        const streams = turn.streams || body.stream === undefined || body.stream === null;
        return answerWithRun(exchange, parts, live, { streams });
      },
    }),
    route('GET /agentbots/:id/inputs', {
      summary: 'What a page shows before the first question',
      access: 'bot',
      finds: findBot,
      data: z.looseObject({
        title: z.string(),
        avatar: z.string().nullable(),
        inputs: z.looseObject({}),
        prologue: z.string(),
        mode: z.string(),
      }),
      handle: ({ page, found }, { readStored }) => {
        const shown = page === undefined ? found.dsl : (found.published?.dsl ?? found.dsl);
        return success(inputsOf(found, readStored(shown).document));
      },
    }),
    route('GET /agentbots/:id/logs/:message', {
      summary: 'What each component did for a message',
      access: 'bot',
      finds: findBot,
      data: traceShape,
      handle: async ({ tenant, page, params, found, exchange }, parts) => {
        const read = () => traceOfMessage(parts, { tenant, page }, found.id, params.message);
        if (page === undefined) return success((await read()) ?? {});
        // What is not known here is searched for among all runs of the agent.
        const name = `message ${page} ${found.id} ${params.message}`;
        return success((await parts.callers.guesses.find(exchange.req, name, read)) ?? {});
      },
    }),
  ],
};

function inputsOf({ title, avatar }: AgentRecord, document: Document | undefined): object {
  if (document === undefined) return { title, avatar, inputs: {}, prologue: '', mode: '' };
  const { inputs } = beginParams(document) ?? {};
  return { title, avatar, inputs: inputs ?? {}, prologue: prologue(document), mode: mode(document) };
}

/** @throws EngineError NOT_FOUND when there is no such agent, or the key does not open it. */
async function findBot(request: PathRequest<'id'>, parts: ServerParts): Promise<AgentRecord> {
  try {
    return await findAgent(request, parts);
  } catch (error) {
    if (!EngineError.is(error) || error.code !== 'FORBIDDEN') throw error;
    throw new EngineError('NOT_FOUND', `Can't find agent by ID: ${request.params.id}`);
  }
}
