/** The targets of model routes: how they are, and their breakers opened and closed by hand. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import type { ModelRoutes } from '../../models/routing/open-routes.js';
import { success } from '../envelope.js';
import { type RouteGroup, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { string } from '../shapes.js';

const targetShape = z.looseObject({
  target: string,
  model: string,
  provider: string.optional(),
  routes: z.array(string).describe('Purposes of the routes that use it.'),
  state: z.enum(['closed', 'paused', 'open', 'half-open']),
  reason: string.optional().describe('Why it is open.'),
  until: z.number().optional().describe('When a probe may be made, or the pause ends; milliseconds since 1970.'),
  succeeded: z.number().describe('Calls that succeeded within the last 60 s.'),
  failed: z.number(),
});

const targetsShape = z.looseObject({ targets: z.array(targetShape) });

/** How the targets of all model routes are. */
export type ModelTargets = z.output<typeof targetsShape>;

/** What is to become of a breaker. */
const forceSchema = z.strictObject({
  target: z.string().min(1).max(255).describe('As the route names it, such as gpt-5@OpenAI.'),
  state: z.enum(['open', 'closed']).describe('`open`: until it is closed by hand.'),
});

export const modelTargetRoutes: RouteGroup = {
  name: 'model routes',
  description: 'The models behind `route:…`, and the breakers that keep calls from those that fail.',
  routes: [
    route('GET /chat/router', {
      summary: 'How the targets of all model routes are',
      data: targetsShape,
      handle: async (_, parts) => success({ targets: await (await routesOf(parts)).states() }),
    }),
    route('POST /chat/router', {
      summary: 'Opens or closes the breaker of a target',
      access: 'admin',
      body: forceSchema,
      data: targetShape,
      handle: async ({ body }, parts) => success(await (await routesOf(parts)).force(body.target, body.state)),
    }),
  ],
};

function routesOf({ services }: ServerParts): Promise<ModelRoutes> {
  const routes = services.models?.routes;
  if (routes !== undefined) return routes();
  throw new EngineError('NOT_FOUND', 'This server has no models of its own, so there are no routes.');
}
