/** A plan of work that the model keeps, and that later turns go on with. */
import { map } from 'rxjs';
import { z } from 'zod';
import { Interrupt } from '../../compose/interrupt.js';
import { defineTool } from '../../compose/tools/define-tool.js';
import type { Json } from '../../json.js';
import { requireOptions, requireWhole } from '../../operators/invalid-option.js';
import { type AgentMiddleware, defineMiddleware, type HookView } from '../loop/middleware.js';
import { withInstructions } from './instructions.js';
import { type Language, requireLanguage } from './language.js';
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
  const texts = TEXTS[language];
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
    beforeModel: (request, view) => withInstructions(request, instructionsFor(planOf(view), language)),
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
            language,
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
  readonly language: Language;
}

/** What calls do, by the name of their tool; the arguments are checked. */
const WORKS: ReadonlyMap<string, (plan: WorkPlan, args: unknown, facts: WorkFacts) => WorkResult> = new Map([
  ['create_work', (plan, args, facts) => createItems(plan, args as z.infer<typeof NEW_ITEMS>, facts)],
  ['update_work', (plan, args) => updateItem(plan, args as z.infer<typeof UPDATE>)],
  ['get_work', (plan, args) => itemOf(plan, (args as { readonly id: string }).id)],
  ['list_work', listWork],
]);

/** Items that the instructions tell of; `list_work` tells of all. */
const MAX_TOLD = 30;

const TEXTS = {
  en: {
    create:
      'Adds items to your plan of work. `blockedBy` names items that have to be finished first: ids of the plan, or "#1" for the first item of this call.',
    list: 'Lists your plan of work.',
    all: 'Whether finished items are listed, too.',
    get: 'Gives one item of your plan with its details.',
    update: 'Changes an item of your plan: its status, owner, text, or what it waits for. What you leave out stays.',
    use: 'For work of several steps, or that goes on later, keep a plan with create_work and update_work: begin an item before you work on it, and complete it as soon as it is done. The plan stays when this conversation goes on.',
    open: 'Open items of your plan:',
    more: (count: number) => `… and ${count} more: see list_work.`,
    none: 'The plan has no such items.',
  },
  zh: {
    create:
      '向你的工作计划添加条目。`blockedBy` 指必须先完成的条目：计划中的编号，或用 "#1" 表示本次调用的第一个条目。',
    list: '列出你的工作计划。',
    all: '是否也列出已结束的条目。',
    get: '给出计划中一个条目的详情。',
    update: '修改计划中的一个条目：状态、负责人、文本或它等待的条目。未写的保持不变。',
    use: '对于多步骤或以后还要继续的工作，请用 create_work 和 update_work 维护计划：开始前将条目设为进行中，完成后立即标记为完成。对话继续时计划会保留。',
    open: '计划中未结束的条目：',
    more: (count: number) => `……另有 ${count} 项，见 list_work。`,
    none: '计划中没有这样的条目。',
  },
} as const;

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

function listWork(plan: WorkPlan, args: unknown, { language }: WorkFacts): WorkResult {
  const isAll = (args as { readonly all?: boolean }).all === true;
  const listed = plan.items.filter((item) => isAll || !isFinished(item));
  return { text: listed.length === 0 ? TEXTS[language].none : listed.map((item) => lineOf(item, plan)).join('\n') };
}

function instructionsFor(plan: WorkPlan, language: Language): string {
  const { use, open, more } = TEXTS[language];
  const items = plan.items.filter((item) => !isFinished(item));
  if (items.length === 0) return use;
  // What can be worked on comes first, so that a long plan does not hide it.
  const ordered = items.toSorted((a, b) => openBlockers(a, plan).length - openBlockers(b, plan).length);
  const lines = ordered.slice(0, MAX_TOLD).map((item) => lineOf(item, plan));
  const left = items.length - lines.length;
  return [use, '', open, ...lines, ...(left > 0 ? [more(left)] : [])].join('\n');
}
