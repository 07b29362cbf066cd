/** One component of a draft: what it asks for, and a trial of it that stores nothing. */
import { z } from 'zod';
import type { Document } from '../../dsl/document.js';
import { readDocument } from '../../dsl/read.js';
import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';
import { servicesOfTenant } from '../../hosting/tenant-services.js';
import type { Json, JsonObject } from '../../json.js';
import { findAgent } from '../agents/find-agent.js';
import { success } from '../envelope.js';
import { forClient } from '../http/client-left.js';
import { takePlace } from '../http/guards.js';
import { type NoQuery, type PathRequest, type RouteGroup, type RouteRequest, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { tryComponent } from './debug.js';
import { type FoundComponent, inputFormOf, requireComponent } from './input-form.js';

/** A component with the draft that it is in. */
interface DraftComponent {
  readonly document: Document;
  readonly component: FoundComponent;
}

/** What a component is tried with. */
const trialSchema = z.looseObject({
  params: z
    .record(z.string(), z.looseObject({ value: z.unknown().optional() }))
    .optional()
    .describe('Values by the keys of the input form, each `{"value": …}`; `sys.*` and `env.*` set variables.'),
});

export const componentRoutes: RouteGroup = {
  name: 'components',
  description: 'Components of a draft, one at a time.',
  routes: [
    route('GET /agents/:id/components/:component/input-form', {
      summary: 'What to fill in to try a component of the draft',
      finds: findComponent,
      data: z.record(z.string(), z.looseObject({ name: z.string().optional(), type: z.string().optional() })),
      handle: ({ found: { document, component } }) => success(inputFormOf(document, component)),
    }),
    route('POST /agents/:id/components/:component/debug', {
      summary: 'Runs one component of the draft alone and gives its outputs; stores nothing',
      finds: findComponent,
      body: trialSchema,
      data: z.looseObject({}),
      handle: async (request, parts) => {
        const giveBack = takePlace(parts.shares.trials, request.tenant, 'trials');
        try {
          return success(await debug(request, parts));
        } finally {
          giveBack();
        }
      },
    }),
  ],
};

async function debug(
  {
    tenant,
    params,
    body,
    exchange,
    found: { document, component },
  }: RouteRequest<'id' | 'component', NoQuery, typeof trialSchema, DraftComponent>,
  parts: ServerParts,
): Promise<JsonObject> {
  // As in a run, but nothing is written to memory.
  const { remember: _, ...services } = servicesOfTenant(parts, tenant);
  const outputs$ = tryComponent(document, component, readValues(body), {
    registry: parts.registry,
    timeouts: parts.timeouts,
    services: { ...services, session: { id: '', agent: params.id } },
    timeoutMs: parts.config.runTimeoutMs,
  });
  // A trial ends with the connection of its client.
  return (await forClient(exchange, outputs$)) ?? {};
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

async function findComponent(request: PathRequest<'id' | 'component'>, parts: ServerParts): Promise<DraftComponent> {
  const { dsl } = await findAgent(request, parts);
  const { document, issues } = readDocument(dsl);
  if (document === undefined) {
    throw new EngineError('DOCUMENT_INVALID', 'The draft cannot be read.', { details: { issues } });
  }
  return { document, component: requireComponent(document, parts.registry, request.params.component) };
}
