/** A plan of work that the model keeps, and that later turns go on with. */
import { map } from 'rxjs';
import { z } from 'zod';
import { Interrupt } from '../../compose/interrupt.js';
import { defineTool } from '../../compose/tools/define-tool.js';
import type { Json } from '../../json.js';
import { requireOptions, requireWhole } from '../../operators/invalid-option.js';
import { type Language, requireLanguage } from '../language.js';
import { type AgentMiddleware, defineMiddleware, type HookView } from '../loop/middleware.js';
import { withInstructions } from './instructions.js';
import {
  createItems,
  EMPTY_PLAN,
  isFinished,
  itemOf,
  lineOf,
  NEW_ITEMS,
  openBlockers,
  UPDATE,
  updateItem,
  WORK_PLAN,
  type WorkPlan,
  type WorkResult,
} from './work-items.js';
import { WORK_TEXTS, type WorkTexts } from './work-texts.js';

/** See {@link workPlan}. */
export interface WorkPlanOptions {
  /** Unique among the middlewares of an agent, and the name of the session's value. @default 'workPlan' */
  readonly name?: string;
  /** Of what the model is told. @default 'en' */
  readonly language?: Language;
  /** Items of a plan. Finished ones that no open one waits for make place; beyond that more are refused. @default 100 */
  readonly maxItems?: number;
}

/**
 * Gives the model a plan of work items, each with a status, an owner and the items it waits for: the tools `create_work`, `list_work`, `get_work` and
 * `update_work`. Open items stand in the instructions of every round.
 *
 * The plan is a value of the session, so that further turns and other agents of a team go on with it; outside of a runner it lasts as long as the agent
 * works. Items wait for each other without circles, and one that waits can be neither begun nor completed. A call that is repeated after a crash makes
 * no item twice. The event `work-plan` tells of each change.
 *
 * @throws EngineError OPTION_INVALID
 */
export function workPlan(options: WorkPlanOptions = {}): AgentMiddleware<WorkPlan> {
  requireOptions('workPlan', options, ['name', 'language', 'maxItems']);
  const { name = 'workPlan', language = 'en', maxItems = 100 } = options;
  requireLanguage('workPlan', language);
  requireWhole('workPlan', 'maxItems', maxItems, 1);
  const texts = WORK_TEXTS[language];
  const planOf = (view: HookView<WorkPlan>): WorkPlan => {
    const kept = WORK_PLAN.safeParse(view.session.values[name]);
    return kept.success ? kept.data : view.own;
  };
  const keep = (plan: WorkPlan, view: HookView<WorkPlan>): void => {
    view.session.set(name, plan as unknown as Json);
    // Outside of a runner the session forgets what it is given.
    if (view.session.values[name] === undefined) view.setOwn(plan);
    view.emit('work-plan', { agent: view.agent, items: plan.items as unknown as Json });
  };
  return defineMiddleware<WorkPlan>({
    name,
    initial: () => EMPTY_PLAN,
    tools: [
      checkedTool('create_work', texts.create, NEW_ITEMS),
      checkedTool('list_work', texts.list, z.object({ all: z.boolean().optional().describe(texts.all) })),
      checkedTool('get_work', texts.get, z.object({ id: z.string() })),
      checkedTool('update_work', texts.update, UPDATE),
    ],
    beforeModel: (request, view) => withInstructions(request, instructionsFor(planOf(view), texts)),
    wrapTool(request, next, view) {
      const work = WORKS.get(request.name);
      if (work === undefined) return next(request);
      return next(request).pipe(
        map((reply) => {
          if (reply instanceof Interrupt || reply.isError === true) return reply;
          const before = planOf(view);
          const { plan, text, isError } = work(before, reply.extra?.checked, {
            maxItems,
            key: request.at.key,
            texts,
          });
          if (plan !== undefined && plan !== before) keep(plan, view);
          return { text, ...(isError === true && { isError }) };
        }),
      );
    },
  });
}

/** What a call works with. */
interface WorkFacts {
  readonly maxItems: number;
  readonly key: string;
  readonly texts: WorkTexts;
}

/** What calls do, by the name of their tool; the arguments are checked. */
const WORKS: ReadonlyMap<string, (plan: WorkPlan, args: unknown, facts: WorkFacts) => WorkResult> = new Map([
  ['create_work', (plan, args, facts) => createItems(plan, args as z.infer<typeof NEW_ITEMS>, facts)],
  ['update_work', (plan, args, { texts }) => updateItem(plan, args as z.infer<typeof UPDATE>, texts)],
  ['get_work', (plan, args, { texts }) => itemOf(plan, (args as { readonly id: string }).id, texts)],
  ['list_work', listWork],
]);

/** Items that the instructions tell of; `list_work` tells of all. */
const MAX_TOLD = 30;

/** A tool that gives its checked arguments to the hook around it. */
function checkedTool(name: string, description: string, input: z.ZodType) {
  return defineTool({
    name,
    description,
    input,
    run: (args) => ({ text: '', extra: { checked: args as never } }),
    output: (given) => given,
  });
}

function listWork(plan: WorkPlan, args: unknown, { texts }: WorkFacts): WorkResult {
  const isAll = (args as { readonly all?: boolean }).all === true;
  const listed = plan.items.filter((item) => isAll || !isFinished(item));
  return { text: listed.length === 0 ? texts.none : listed.map((item) => lineOf(item, plan, texts)).join('\n') };
}

function instructionsFor(plan: WorkPlan, texts: WorkTexts): string {
  const { use, open, more } = texts;
  const items = plan.items.filter((item) => !isFinished(item));
  if (items.length === 0) return use;
  // What can be worked on comes first, so that a long plan does not hide it.
  const ordered = items.toSorted((a, b) => openBlockers(a, plan).length - openBlockers(b, plan).length);
  const lines = ordered.slice(0, MAX_TOLD).map((item) => lineOf(item, plan, texts));
  const left = items.length - lines.length;
  return [use, '', open, ...lines, ...(left > 0 ? [more(left)] : [])].join('\n');
}
