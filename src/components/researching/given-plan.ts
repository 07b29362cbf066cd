/** The tools of a research by a plan, and the check of a plan that a request brings against them. */
import { firstValueFrom, type Observable, of } from 'rxjs';
import { type CallContext, callContext, type Services } from '../../agents/call-context.js';
import { Budget } from '../../research/calls/budget.js';
import type { ResearchPlace } from '../../research/deep/deep-ports.js';
import { readGivenPlan } from '../../research/plan/make-plan.js';
import type { PlanCall } from '../../research/plan/plan-call.js';
import type { ResearchSettings } from '../../research/service/research-settings.js';
import { type WantedTool, withCalls } from './plan-calls.js';
import type { PlannedParams } from './research-params.js';
import { type Searched, toolsOf, withGraphs } from './research-places.js';

/** What a research by a plan is set to. */
export interface PlannedBy {
  readonly params: Partial<PlannedParams>;
  readonly settings: ResearchSettings;
  readonly searched: Searched;
}

/** The searches of its tasks, the usual one first, and the other tools that they may call. */
export interface PlanTools {
  readonly tools: ReadonlyMap<string, readonly ResearchPlace[]>;
  readonly calls: ReadonlyMap<string, PlanCall>;
}

/** Lets a research by a plan work with its tools. */
export function withTools<T>(
  context: CallContext,
  { params, settings, searched }: PlannedBy,
  work: (tools: PlanTools) => Observable<T>,
): Observable<T> {
  const tools = toolsOf(context, searched, settings.depth ?? params.depth ?? 'normal');
  return withCalls(context, wantedTools(params, settings), searched, (calls) => work({ tools, calls }));
}

/** Those that a node names, of which a request may choose; undefined: all that need no parameters. */
function wantedTools(
  { tools: own }: Partial<PlannedParams>,
  { tools: asked }: ResearchSettings,
): readonly WantedTool[] | undefined {
  if (!asked) return own ?? undefined;
  const names = new Set(asked.map((name) => name.toLowerCase()));
  const chosen = own?.filter(({ component_name }) => names.has(component_name.trim().toLowerCase()));
  return chosen ?? asked.map((component_name) => ({ component_name }));
}

/**
 * Checks the plan of a request before its research is started.
 *
 * @throws EngineError PLAN_REJECTED with every problem and its path
 */
export async function checkGivenPlan(
  given: unknown,
  question: string,
  settings: ResearchSettings,
  services: Services,
): Promise<void> {
  const all: Searched = {
    datasetIds: settings.dataset_ids ?? undefined,
    web: settings.web === true,
    budget: new Budget({}),
    journal: { find: () => undefined, keep: () => {} },
    report: () => {},
  };
  const context = callContext({ services });
  const names$ = withGraphs(context, all, (searched) =>
    withTools(context, { params: {}, settings, searched }, ({ tools, calls }) =>
      of([...tools.keys(), ...calls.keys()]),
    ),
  );
  readGivenPlan(given, question, await firstValueFrom(names$));
}
