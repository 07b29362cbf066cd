/** A plan that is made first, worked off step by step, and changed by what comes out. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { isJsonObject, type Json } from '../../json.js';
import type { ChatModel } from '../../models/chat-model.js';
import type { ChatMessage } from '../../models/messages.js';
import { invalidOption, receivedOf, requireWhole } from '../../operators/invalid-option.js';
import { type Language, requireLanguage } from '../language.js';
import { agent } from '../loop/agent.js';
import { type Agent, type AnyAgent, isAgent } from '../loop/agent-end.js';
import { saidTo } from '../loop/heard-by.js';
import { PLAN_TEXTS, type PlanTexts } from './plan-texts.js';
import { added, type MemberEnd, type Move, type TeamState, teamLimit, teamOf } from './team-graph.js';
import { requireMembers, requireTeam, type TeamOptions } from './team-options.js';

/** What a planner answers. */
export interface Plan {
  readonly steps: readonly string[];
}

/** What a replanner answers: the answer of the team, or the steps that are left. */
export type Replan = { readonly answer: string } | Plan;

/** See {@link planExecute}. */
export interface PlanExecuteOptions extends TeamOptions {
  /** Does one step after the other. It hears the conversation, the plan and what came of earlier steps. */
  readonly executor: AnyAgent;
  /** Of the planner and the replanner. @default '', the default model of `services.models` */
  readonly model?: string | ChatModel;
  /** Makes the plan. @default an agent "planner" on `model` */
  readonly planner?: Agent<Plan>;
  /** Looks at the plan behind every step. @default an agent "replanner" on `model` */
  readonly replanner?: Agent<Replan>;
  /** Steps that are worked off in all. @default 20 */
  readonly maxSteps?: number;
  /** What happens when they are used up. `answer`: what the last step gave is the answer. `fail`: LIMIT_REACHED. @default 'answer' */
  readonly whenExhausted?: 'answer' | 'fail';
  /** Of what agents are told. @default 'en' */
  readonly language?: Language;
}

/** Steps of one plan. */
const MAX_PLANNED = 100;

const PLAN = z.object({ steps: z.array(z.string().min(1)).min(1).max(MAX_PLANNED) });

const REPLAN = z.object({
  answer: z.string().optional(),
  steps: z.array(z.string().min(1)).max(MAX_PLANNED).optional(),
});

/** How far the work is. */
interface Progress {
  readonly steps: readonly string[];
  readonly done: readonly { readonly step: string; readonly result: string }[];
}

/**
 * Makes a team of a planner, an executor and a replanner: the planner writes a list of steps, the executor does the first one, and behind each step
 * the replanner either answers or writes the steps that are left.
 *
 * ```text
 * planner    --p|                        (p: two steps)
 * executor      --1|     --2|
 * replanner        --r|     --A|         (r: one step is left)
 * team       -----------------(A|)
 * ```
 *
 * ```ts
 * import { createScriptedModel, invoke } from 'runnel';
 * import { agentFrom, planExecute } from 'runnel/agents';
 *
 * const model = createScriptedModel({
 *   rules: [
 *     { when: {}, reply: '{"steps": ["Find the city.", "Find its height."]}', times: 1 },
 *     { when: {}, reply: '{"steps": ["Find its height."]}', times: 1 },
 *     { when: {}, reply: '{"answer": "3,640 m"}' },
 *   ],
 * });
 * const executor = agentFrom({ name: 'executor', run: () => 'Found.' });
 * console.log(await invoke(planExecute({ name: 'guide', model, executor }), 'How high is the highest capital?'));
 * // => 3,640 m
 * ```
 *
 * The event `plan` has the steps that are done and left, whenever they change. A session keeps the answer; the work on it is in the events.
 *
 * Errors of a run: LIMIT_REACHED; OUTPUT_INVALID for a planner or replanner of your own that gives something else.
 *
 * @throws EngineError PLAN_INVALID, OPTION_INVALID for options that cannot be used.
 */
export function planExecute(options: PlanExecuteOptions): Agent<string> {
  const owner = requireTeam('planExecute', options, NAMES);
  const { name, description = '', executor, language = 'en', maxSteps = 20, whenExhausted = 'answer' } = options;
  requireLanguage(owner, language);
  const texts = PLAN_TEXTS[language];
  const { model = '' } = options;
  const shared = { model, language };
  const { planner = agent({ ...shared, name: 'planner', instructions: texts.planner, output: PLAN }) } = options;
  const { replanner = agent({ ...shared, name: 'replanner', instructions: texts.replanner, output: REPLAN }) } =
    options;
  for (const [option, member] of Object.entries({ planner, executor, replanner })) {
    if (!isAgent(member)) throw invalidOption(owner, option, 'what agent(…), agentFrom(…) or a team gives', member);
  }
  requireMembers(owner, [planner, executor, replanner]);
  requireWhole(owner, 'maxSteps', maxSteps, 1);
  if (whenExhausted !== 'answer' && whenExhausted !== 'fail') {
    throw invalidOption(owner, 'whenExhausted', '"answer" or "fail"', whenExhausted);
  }
  const told = (to: string, text: string, team: TeamState): readonly ChatMessage[] => [
    ...team.messages.slice(0, team.given),
    ...inputsIn(team),
    saidTo(to, { role: 'user', content: text }),
  ];
  const work = (progress: Progress, team: TeamState): Move => ({
    to: executor.name,
    own: progress as unknown as Json,
    messages: told(executor.name, workText(texts, progress), team),
  });
  const answer = (text: string, team: TeamState): Move => ({
    answer: { text, value: text, reason: 'answered' },
    keeps: [...inputsIn(team), { role: 'assistant', content: text, extra: { agent: name } }],
  });
  return teamOf<string>({
    name,
    description,
    members: [planner, executor, replanner],
    director: {
      first: () => ({ to: planner.name }),
      next: (end, team, at) => {
        const { steps, done } = progressOf(team);
        if (end.agent === executor.name) {
          const progress = { steps: steps.slice(1), done: [...done, { step: steps[0] ?? '', result: textOf(end) }] };
          const messages = told(replanner.name, progressText(texts, progress), team);
          return { to: replanner.name, own: progress as unknown as Json, messages };
        }
        const plan = planOf(end, end.agent === planner.name ? PLAN : REPLAN);
        if (plan.answer !== undefined) return answer(plan.answer, team);
        const left = plan.steps ?? [];
        at.emit('plan', { steps: left, done: [...done] });
        if (left.length === 0) return answer(done.at(-1)?.result ?? '', team);
        if (done.length < maxSteps) return work({ steps: left, done }, team);
        if (whenExhausted === 'fail') throw teamLimit(name, `${maxSteps} steps gave no answer.`, 'maxSteps');
        return answer(done.at(-1)?.result ?? '', team);
      },
    },
  });
}

const NAMES = ['executor', 'model', 'planner', 'replanner', 'maxSteps', 'whenExhausted', 'language'];

function progressOf({ own }: TeamState): Progress {
  return isJsonObject(own) ? (own as unknown as Progress) : { steps: [], done: [] };
}

/** What users said while the team was at work. */
function inputsIn(team: TeamState): readonly ChatMessage[] {
  return added(team).filter(({ role, id }) => role === 'user' && id !== undefined);
}

function textOf(end: MemberEnd): string {
  return end.type === 'answered' ? end.text : '';
}

/** @throws EngineError OUTPUT_INVALID */
function planOf(end: MemberEnd, schema: typeof PLAN | typeof REPLAN): z.infer<typeof REPLAN> {
  const value = end.type === 'answered' ? end.value : undefined;
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new EngineError(
    'OUTPUT_INVALID',
    `Agent "${end.agent}" gave ${receivedOf(value)} in place of ${schema === PLAN ? '{ steps: [text, …] }' : '{ answer } or { steps }'}.`,
  );
}

function progressText({ doneTitle, leftTitle, nothing }: PlanTexts, { steps, done }: Progress): string {
  const results = done.map(({ step, result }, index) => `${index + 1}. ${step}\n   => ${result}`);
  const left = steps.map((step, index) => `${index + 1}. ${step}`);
  return [
    doneTitle,
    ...(results.length === 0 ? [nothing] : results),
    leftTitle,
    ...(left.length === 0 ? [nothing] : left),
  ].join('\n');
}

function workText(texts: PlanTexts, progress: Progress): string {
  return `${progressText(texts, progress)}\n\n${texts.now}\n${progress.steps[0]}`;
}
