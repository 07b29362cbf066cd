import { firstValueFrom, fromEvent, map, race } from 'rxjs';
import { z } from 'zod';
import type { Document } from '../../dsl/document.js';
import { readDocument } from '../../dsl/read.js';
import { EngineError } from '../../errors.js';
import { checkId } from '../../hosting/ids.js';
import { badArgument } from '../../hosting/refusals.js';
import { servicesOfTenant } from '../../hosting/tenant-services.js';
import type { Json, JsonObject } from '../../json.js';
import { requireAgent } from '../agents/find-agent.js';
import { success } from '../envelope.js';
import type { HttpExchange, Routes } from '../http/types.js';
import { readInput } from '../read-input.js';
import type { ServerParts } from '../server-parts.js';
import { tryComponent } from './debug.js';
import { type FoundComponent, inputFormOf, requireComponent } from './input-form.js';

/** What a component is tried with. */
export const trialSchema = z.looseObject({
  params: z
    .record(z.string(), z.looseObject({ value: z.unknown().optional() }))
    .optional()
    .describe('Values by the keys of the input form, each `{"value": …}`; `sys.*` and `env.*` set variables.'),
});

/** One component of the draft: what it asks for, and a trial of it that keeps nothing. */
export function componentRoutes(parts: ServerParts): Routes {
  const trials = new Set<HttpExchange>();
  return (router) => {
    router.get('/agents/:id/components/:component/input-form', async (exchange) => {
      const { document, found } = await findDraftComponent(parts, exchange);
      exchange.body = success(inputFormOf(document, found));
    });
    router.post('/agents/:id/components/:component/debug', async (exchange) => {
      if (trials.size >= parts.config.maxRuns) {
        throw new EngineError(
          'LIMIT_REACHED',
          `${trials.size} trials are going on, which is the most; try again later.`,
        );
      }
      trials.add(exchange);
      try {
        await debug(parts, exchange);
      } finally {
        trials.delete(exchange);
      }
    });
  };
}

async function debug(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const { document, found } = await findDraftComponent(parts, exchange);
  const values = readValues(exchange.request.body);
  const outputs$ = tryComponent(document, found, values, {
    registry: parts.registry,
    timeouts: parts.timeouts,
    services: trialServices(parts, exchange),
    timeoutMs: parts.config.runTimeoutMs,
  });
  // A trial is for whoever waits for it.
  const left$ = fromEvent(exchange.res, 'close').pipe(map((): JsonObject => ({})));
  exchange.body = success(await firstValueFrom(race(outputs$, left$)));
}

/** As in a run, but that nothing is remembered. */
function trialServices(parts: ServerParts, { state, params }: HttpExchange): object {
  const { remember: _, ...others } = servicesOfTenant(parts, state.tenant);
  return { ...others, session: { id: '', agent: params.id as string } };
}

/** @throws EngineError BAD_REQUEST for a value that is not given as `{value}`. */
function readValues(body: unknown): ReadonlyMap<string, Json> {
  const { params } = readInput(trialSchema, body ?? {});
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
  exchange: HttpExchange,
): Promise<{ readonly document: Document; readonly found: FoundComponent }> {
  const { dsl } = await requireAgent(parts, exchange);
  const { document, issues } = readDocument(dsl);
  if (document === undefined) {
    throw new EngineError('DOCUMENT_INVALID', 'The draft cannot be read.', { details: { issues } });
  }
  const id = checkId('component_id', exchange.params.component as string);
  return { document, found: requireComponent(document, parts.registry, id) };
}
