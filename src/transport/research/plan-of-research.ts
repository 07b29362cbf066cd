/** Plans of researches at work: read from the log, and changed by what is kept before it is acknowledged. */
import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';
import type { JsonObject } from '../../json.js';
import type { RunRecord } from '../../records/runs.js';
import type { RunSteers } from '../../records/steers.js';
import type { PicturedPlan } from '../../research/deep/fold-research.js';
import type { TaskPlan } from '../../research/plan/task-plan.js';
import type { ServerParts } from '../server-parts.js';
import { readResearch } from './start-research.js';

/** The plan of a research. @throws EngineError NOT_FOUND where there is none, or none yet */
export async function planOfResearch(parts: ServerParts, tenant: string, run: RunRecord): Promise<PicturedPlan> {
  const { picture } = await readResearch(parts, tenant, run);
  if (picture.planned === undefined) throw new EngineError('NOT_FOUND', `Research "${run.id}" has no plan yet.`);
  return picture.planned;
}

/**
 * Puts a plan in place of that of a research; gives it as it was read. What begins meanwhile stays as it is.
 *
 * @throws EngineError PLAN_REJECTED with every problem and its path, CONFLICT for a research that is over, NOT_FOUND as {@link planOfResearch}
 */
export async function putPlan(parts: ServerParts, tenant: string, run: RunRecord, given: unknown): Promise<TaskPlan> {
  requireAtWork(run);
  const { plan, tools, tasks } = await planOfResearch(parts, tenant, run);
  const { readChangedPlan } = await import('../../research/plan/change-plan.js');
  const changed = readChangedPlan(given, plan, { begun: new Set(tasks.keys()), tools });
  const change = { action: 'plan', plan: changed } as unknown as JsonObject;
  await steersOf(parts.services.steers, tenant).put(run.id, change);
  return changed;
}

/** @throws EngineError CONFLICT for a research that is over */
export function requireAtWork({ id, status }: RunRecord): void {
  if (status === 'running') return;
  throw new EngineError('CONFLICT', `Research "${id}" is over (${status}), so nothing of it can be changed.`);
}

/** Where changes of a tenant's runs are kept. @throws EngineError where nothing keeps them */
export function steersOf(steers: RunSteers | undefined, tenant: string): RunSteers {
  if (steers === undefined) throw badArgument('This server keeps no changes of researches.');
  return steers.forTenant(tenant);
}
