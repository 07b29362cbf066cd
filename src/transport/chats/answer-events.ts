/** Coming back to an answer: its frames behind the last one that a client has. */
import { z } from 'zod';
import { noRun } from '../../hosting/refusals.js';
import type { RunRecord } from '../../records/runs.js';
import { chatRunInfo } from '../chat/start-chat.js';
import { flag, text } from '../http/input.js';
import { type PathRequest, type RouteGroup, route } from '../http/route.js';
import { followRun } from '../runs/follow-run.js';
import type { ServerParts } from '../server-parts.js';
import { assistantOf } from './find-chat.js';
import { ragflowChatView } from './ragflow-chat.js';

const eventsQuery = z.object({
  after: text.describe('Number of the last frame that the client has; also the header `Last-Event-ID`.'),
  legacy: flag.describe('"true": each frame has the whole answer so far.'),
});

export const answerEventRoutes: RouteGroup = {
  name: 'answer events',
  description: 'Answers of assistants, for clients that come back.',
  routes: [
    route('GET /chats/:chat/runs/:run/events', {
      summary: 'Streams an answer in the frames of `POST /chat/completions`, from the first or after `Last-Event-ID`',
      finds: findRun,
      query: eventsQuery,
      answers: 'events',
      handle: (request, parts) =>
        followRun(parts, request, async (after) => {
          const { tenant, params, query, found } = request;
          const isKept = (await parts.stores.sessions.find(tenant, found.sessionId)) !== undefined;
          const about = {
            info: chatRunInfo(tenant, found),
            messageId: found.messageId,
            sessionId: isKept ? found.sessionId : null,
            chatId: params.chat,
            isLegacy: query.legacy,
          };
          return ragflowChatView(about, after);
        }),
    }),
  ],
};

/** @throws EngineError NO_AUTHORIZATION for the assistant, NOT_FOUND for a run that is not one of its own */
async function findRun({ tenant, params }: PathRequest<'chat' | 'run'>, parts: ServerParts): Promise<RunRecord> {
  const agent = await assistantOf(parts, tenant, params.chat);
  const record = await parts.host.record(tenant, params.run);
  if (record === undefined || record.agentId !== agent.id) throw noRun();
  return record;
}
