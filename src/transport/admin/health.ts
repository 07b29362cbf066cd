/** How the server is: alive, and for those who may know, what it depends on. */
import { z } from 'zod';
import type { TargetState } from '../../models/routing/open-routes.js';
import { within } from '../../operators/within.js';
import { tokenOf } from '../access/callers.js';
import { type Envelope, success } from '../envelope.js';
import { type HttpExchange, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { string, whole } from '../shapes.js';

/** What is asked may take so long; then it counts as late. */
const PATIENCE_MS = 500;

/** How long what was found out is told again, so that those who ask often cost nothing. */
const FRESH_MS = 1_000;

const healthShape = z.looseObject({
  status: z.enum(['ok', 'degraded']),
  database: z.looseObject({ status: z.enum(['ok', 'failed', 'late']), ms: whole }).optional(),
  index: z
    .looseObject({
      open: whole.describe('Indexes in memory.'),
      passages: whole.describe('What these find.'),
      documents_waiting: whole
        .nullable()
        .describe('Documents in line or parsed, which are not found yet; null: not known in time.')
        .optional(),
      passages_without_vector: whole
        .describe('What the last searches of these indexes found by words alone, as vectors are missing.')
        .optional(),
    })
    .optional()
    .describe('Search indexes, and how far they are behind.'),
  models: z
    .looseObject({ scripted: z.boolean(), providers: z.array(string) })
    .optional()
    .describe('`scripted`: no provider is configured.'),
  breakers: z
    .array(z.looseObject({ target: string, state: string }))
    .optional()
    .describe('Of the targets of model routes.'),
});

type Details = z.output<typeof healthShape>;

export const healthRoute = route('GET /healthz', {
  summary: 'Whether the server is alive; with a key, or where there are none, how what it depends on is',
  access: 'open',
  data: healthShape,
  handle: async ({ exchange }, parts) => health(exchange, parts),
});

async function health(exchange: HttpExchange, parts: ServerParts): Promise<Envelope> {
  if (!(await mayKnow(exchange, parts))) return success({ status: 'ok' });
  return success(await detailsOf(parts));
}

/** A request without a key costs nothing, and a wrong one is no reason to say that the server is not alive. */
async function mayKnow({ req }: HttpExchange, { callers, config }: ServerParts): Promise<boolean> {
  if (!callers.hasKeys) return true;
  const key = tokenOf(req.headers.authorization);
  if (key === undefined) return false;
  try {
    if (config.adminKey !== undefined && (await callers.isSecret(req, key, config.adminKey))) return true;
    return (await callers.find(req, key)) !== undefined;
  } catch {
    return false;
  }
}

const NO_TARGETS: readonly TargetState[] = [];

const found = new WeakMap<ServerParts, { readonly at: number; readonly details: Promise<Details> }>();

function detailsOf(parts: ServerParts): Promise<Details> {
  const at = parts.now();
  const before = found.get(parts);
  if (before !== undefined && at - before.at >= 0 && at - before.at < FRESH_MS) return before.details;
  const details = readDetails(parts);
  found.set(parts, { at, details });
  return details;
}

async function readDetails(parts: ServerParts): Promise<Details> {
  const { stores, services, breakers, now } = parts;
  const begun = now();
  const asked = stores.agents.find('', 'health').then(
    () => 'ok' as const,
    () => 'failed' as const,
  );
  const [status, targets, index] = await Promise.all([
    within(PATIENCE_MS, asked, 'late' as const),
    within(PATIENCE_MS, breakers.refresh(), NO_TARGETS),
    indexOf(parts),
  ]);
  const { isScripted, defaultProvider, providers } = services.models.describe();
  const names = [defaultProvider, ...providers].flatMap((one) => (one === undefined ? [] : [one.name]));
  return {
    status: status === 'ok' && targets.every(({ state }) => state !== 'open') ? 'ok' : 'degraded',
    database: { status, ms: Math.max(0, now() - begun) },
    ...(index && { index }),
    models: { scripted: isScripted, providers: [...new Set(names)] },
    breakers: targets.map(({ target, state }) => ({ target, state })),
  };
}

async function indexOf({ indexSizes, documentsWaiting }: ServerParts): Promise<Details['index']> {
  if (indexSizes === undefined) return undefined;
  const waiting = documentsWaiting && (await within(PATIENCE_MS, documentsWaiting().catch(unknown), null));
  const { lacking, ...sizes } = indexSizes();
  return {
    ...sizes,
    ...(waiting !== undefined && { documents_waiting: waiting }),
    ...(lacking !== undefined && { passages_without_vector: lacking }),
  };
}

function unknown(): null {
  return null;
}
