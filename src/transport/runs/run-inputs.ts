/** What people say to a run at work: kept first, and told to its agents before the next calls of their models. */
import { firstValueFrom } from 'rxjs';
import { z } from 'zod';
import { type SaidToRun, saidSchema } from '../../components/agents/agent-inputs.js';
import { EngineError } from '../../errors.js';
import type { Plan } from '../../graph/plan.js';
import { createId } from '../../hosting/ids.js';
import { badArgument } from '../../hosting/refusals.js';
import { didYouMean } from '../../nearest-name.js';
import type { RunRecord } from '../../records/runs.js';
import { success } from '../envelope.js';
import { type RouteGroup, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { findRun } from './find-run.js';

const { shape } = saidSchema;

/** What a client says to a run. */
export const inputSchema = z.object({
  content: shape.content.describe('What is said; at most 10,000 characters.'),
  id: shape.id.optional().describe('The same id counts once. Default: a new one.'),
  to: shape.to.unwrap().optional().describe('Id of the node that it is for. Default: every Agent of the run.'),
});

/** What is told of an input that is stored. */
export const keptShape = z.object({
  id: z.string().describe('Of the input; the event `input-delivered` has it as well.'),
});

/** An input as it was said. */
const saidShape = z.object({
  id: shape.id,
  content: shape.content,
  to: z.string().nullable().describe('Id of the node that it is for; null: every Agent of the run.'),
});

export const runInputRoutes: RouteGroup = {
  name: 'inputs',
  description:
    'What people say to agents at work. It is stored before it is acknowledged, and joins before the next call of the model, also in another process behind a crash; the notice `input-delivered` says when.',
  routes: [
    route('GET /agents/:id/runs/:run/inputs', {
      summary: 'Gives what was said to the agents of a run, the earliest first',
      finds: findRun,
      data: z.array(saidShape),
      handle: async ({ tenant, found }, parts) => success(await saidToRun(parts, tenant, found.id)),
    }),
    route('POST /agents/:id/runs/:run/inputs', {
      summary: 'Says something to the agents of a run at work',
      finds: findRun,
      body: inputSchema,
      data: keptShape,
      handle: async ({ tenant, found, body }, parts) => success(await sayToRun(parts, tenant, found, body)),
    }),
  ],
};

/**
 * Keeps what is said to a run; resolves when it is stored.
 *
 * @throws EngineError CONFLICT for a run that is not at work; LIMIT_REACHED for one that was told too much; BAD_REQUEST for a node that the run does not
 * have, and where nothing keeps inputs.
 */
export async function sayToRun(
  { host, services: { steers } }: Pick<ServerParts, 'host' | 'services'>,
  tenant: string,
  { id: run, status }: Pick<RunRecord, 'id' | 'status'>,
  { content, id = createId(), to }: z.output<typeof inputSchema>,
): Promise<z.output<typeof keptShape>> {
  if (steers === undefined) throw badArgument('This server keeps no inputs of runs: its stores have no `steers`.');
  if (status !== 'running') {
    const what = status === 'waiting' ? 'waits for an answer; give it with the next turn' : `is over (${status})`;
    throw new EngineError('CONFLICT', `Run "${run}" ${what}. Only a run at work can be told something.`);
  }
  if (to !== undefined) requireNode(to, (await host.state(tenant, run, 1)).plan);
  const said: SaidToRun = { action: 'say', id, content, ...(to !== undefined && { to }) };
  await steers.forTenant(tenant).put(run, { ...said });
  return { id };
}

/** What is kept of a run, also what its agents have not been told. */
async function saidToRun(
  { services: { steers } }: Pick<ServerParts, 'services'>,
  tenant: string,
  run: string,
): Promise<z.output<typeof saidShape>[]> {
  if (steers === undefined) return [];
  const changes = await firstValueFrom(steers.forTenant(tenant).of(run));
  return changes.flatMap((change) => {
    const { success: isSaid, data } = saidSchema.safeParse(change);
    return isSaid ? [{ id: data.id, content: data.content, to: data.to ?? null }] : [];
  });
}

/** @throws EngineError BAD_REQUEST for a node that the run does not have */
function requireNode(to: string, { nodes }: Plan): void {
  const ids = nodes.map(({ id }) => id);
  if (ids.includes(to)) return;
  throw badArgument(`\`to\` must be the id of an Agent of the run; it has no node "${to}".${didYouMean(to, ids)}`);
}
