/** One component of a draft: what it asks for, and a trial of it that stores nothing. */
import { firstValueFrom, fromEvent, map, race } from 'rxjs';
import { z } from 'zod';
import type { Document } from '../../dsl/document.js';
import { readDocument } from '../../dsl/read.js';
import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';
import { servicesOfTenant } from '../../hosting/tenant-services.js';
import type { Json, JsonObject } from '../../json.js';
import { type AgentRequest, requireAgent } from '../agents/find-agent.js';
import { success } from '../envelope.js';
import { type NoQuery, type RouteGroup, type RouteRequest, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { tryComponent } from './debug.js';
import { type FoundComponent, inputFormOf, requireComponent } from './input-form.js';

/** A request for one component of an agent. */
type ComponentRequest = AgentRequest<'component'>;

/** What a component is tried with. */
const trialSchema = z.looseObject({
  params: z
    .record(z.string(), z.looseObject({ value: z.unknown().optional() }))
    .optional()
    .describe('Values by the keys of the input form, each `{"value": …}`; `sys.*` and `env.*` set variables.'),
});

/** Made once for each server, because it counts the trials that are running. */
export function componentRoutes(): RouteGroup {
  const trials = new Set<object>();
  return {
    name: 'components',
    description: 'Components of a draft, one at a time.',
    routes: [
      route(
        'GET /agents/:id/components/:component/input-form',
        {
          summary: 'What to fill in to try a component of the draft',
          data: z.record(z.string(), z.looseObject({ name: z.string().optional(), type: z.string().optional() })),
        },
        async (request, parts) => {
          const { document, found } = await findDraftComponent(parts, request);
          return success(inputFormOf(document, found));
        },
      ),
      route(
        'POST /agents/:id/components/:component/debug',
        {
          summary: 'Runs one component of the draft alone and gives its outputs; stores nothing',
          body: trialSchema,
          data: z.looseObject({}),
        },
        async (request, parts) => {
          if (trials.size >= parts.config.maxRuns) {
            throw new EngineError(
              'LIMIT_REACHED',
              `${trials.size} trials are going on, which is the most; try again later.`,
            );
          }
          trials.add(request);
          try {
            return success(await debug(request, parts));
          } finally {
            trials.delete(request);
          }
        },
      ),
    ],
  };
}

async function debug(
  request: RouteRequest<'id' | 'component', NoQuery, typeof trialSchema>,
  parts: ServerParts,
): Promise<JsonObject> {
  const { document, found } = await findDraftComponent(parts, request);
  const outputs$ = tryComponent(document, found, readValues(request.body), {
    registry: parts.registry,
    timeouts: parts.timeouts,
    services: trialServices(parts, request),
    timeoutMs: parts.config.runTimeoutMs,
  });
  // A trial ends with the connection of its client.
  const left$ = fromEvent(request.exchange.res, 'close').pipe(map((): JsonObject => ({})));
  return firstValueFrom(race(outputs$, left$));
}

/** As in a run, but nothing is written to memory. */
function trialServices(parts: ServerParts, { tenant, params }: ComponentRequest): object {
  const { remember: _, ...others } = servicesOfTenant(parts, tenant);
  return { ...others, session: { id: '', agent: params.id } };
}

/** @throws EngineError BAD_REQUEST for a value that is not given as `{value}`. */
function readValues({ params }: z.output<typeof trialSchema>): ReadonlyMap<string, Json> {
  if (params === undefined) throw badArgument('required argument are missing: params; ');
  return new Map(
    Object.entries(params).map(([key, given]) => {
      if (given.value === undefined) throw badArgument(`\`params.${key}.value\` is required.`);
      return [key, given.value as Json];
    }),
  );
}

async function findDraftComponent(
  parts: ServerParts,
  request: ComponentRequest,
): Promise<{ readonly document: Document; readonly found: FoundComponent }> {
  const { dsl } = await requireAgent(parts, request);
  const { document, issues } = readDocument(dsl);
  if (document === undefined) {
    throw new EngineError('DOCUMENT_INVALID', 'The draft cannot be read.', { details: { issues } });
  }
  return { document, found: requireComponent(document, parts.registry, request.params.component) };
}
