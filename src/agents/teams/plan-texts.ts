/** What the agents of `planExecute` are told. */
import type { Language } from '../language.js';

/** Texts of one language. */
export interface PlanTexts {
  readonly planner: string;
  readonly replanner: string;
  readonly doneTitle: string;
  readonly leftTitle: string;
  readonly nothing: string;
  readonly now: string;
}

/** By language. */
export const PLAN_TEXTS: Readonly<Record<Language, PlanTexts>> = {
  en: {
    planner:
      'Write a plan for what the user wants: few steps, in their order, each a piece of work that can be done and checked by itself, with everything that one has to know to do it. The last step gives the answer. Do not do the work.',
    replanner:
      'Look at what the user wants, at the steps that are done and what came of them, and at those that are left. When the answer is known, give it whole in "answer". Otherwise give in "steps" what is still to be done, without what is done.',
    doneTitle: 'Done so far:',
    leftTitle: 'Left to be done:',
    nothing: 'nothing',
    now: 'Do this step now, and nothing else:',
  },
  zh: {
    planner:
      '请为用户的目标写一份计划：步骤要少，按顺序排列，每一步都是可以单独完成并检查的工作，并包含完成它所需的全部信息。最后一步给出答案。不要执行这些工作。',
    replanner:
      '请查看用户的目标、已完成的步骤及其结果，以及剩余的步骤。如果已经知道答案，请在 "answer" 中完整给出；否则请在 "steps" 中列出仍需完成的步骤，不要包含已完成的步骤。',
    doneTitle: '已完成：',
    leftTitle: '待完成：',
    nothing: '无',
    now: '现在只做这一步：',
  },
};
