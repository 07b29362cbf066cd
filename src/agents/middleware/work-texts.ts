/** What models are told of plans of work. */
import { didYouMean } from '../../nearest-name.js';
import type { Language } from '../language.js';

/** The texts of a language. */
export interface WorkTexts {
  readonly create: string;
  readonly list: string;
  readonly all: string;
  readonly get: string;
  readonly update: string;
  readonly use: string;
  readonly open: string;
  readonly none: string;
  more(count: number): string;
  owner(name: string): string;
  waits(ids: string): string;
  notAdded(problem: string): string;
  tooMany(most: number): string;
  notChanged(problem: string): string;
  notYet(id: string, ids: string): string;
  ready(ids: string): string;
  unknownBlocker(id: string, blocker: string): string;
  circle(id: string): string;
  missing(id: string, ids: readonly string[]): string;
}

/** By language. */
export const WORK_TEXTS: Readonly<Record<Language, WorkTexts>> = {
  en: {
    create:
      'Adds items to your plan of work. `blockedBy` names items that have to be finished first: ids of the plan, or "#1" for the first item of this call.',
    list: 'Lists your plan of work.',
    all: 'Whether finished items are listed, too.',
    get: 'Gives one item of your plan with its details.',
    update: 'Changes an item of your plan: its status, owner, text, or what it waits for. What you leave out stays.',
    use: 'For work of several steps, or that goes on later, keep a plan with create_work and update_work: begin an item before you work on it, and complete it as soon as it is done. The plan stays when this conversation goes on.',
    open: 'Open items of your plan:',
    more: (count) => `… and ${count} more: see list_work.`,
    none: 'The plan has no such items.',
    owner: (name) => `owner: ${name}`,
    waits: (ids) => `waits for ${ids}`,
    notAdded: (problem) => `Nothing was added. ${problem}`,
    tooMany: (most) =>
      `Nothing was added: the plan would have more than ${most} items. Finish or drop some first, or plan in larger pieces.`,
    notChanged: (problem) => `Nothing was changed. ${problem}`,
    notYet: (id, ids) => `Nothing was changed: item ${id} waits for ${ids}.`,
    ready: (ids) => `Items that can begin now: ${ids}.`,
    unknownBlocker: (id, blocker) => `Item ${id} cannot wait for ${JSON.stringify(blocker)}, which is not in the plan.`,
    circle: (id) => `Item ${id} would wait for itself.`,
    missing: (id, ids) =>
      `There is no item ${JSON.stringify(id)} in the plan.${didYouMean(id, ids)} list_work gives all.`,
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
    more: (count) => `……另有 ${count} 项，见 list_work。`,
    none: '计划中没有这样的条目。',
    owner: (name) => `负责人：${name}`,
    waits: (ids) => `等待 ${ids}`,
    notAdded: (problem) => `未添加任何条目。${problem}`,
    tooMany: (most) => `未添加任何条目：计划将超过 ${most} 项。请先完成或放弃一些，或划分得更粗。`,
    notChanged: (problem) => `未做任何修改。${problem}`,
    notYet: (id, ids) => `未做任何修改：条目 ${id} 还在等待 ${ids}。`,
    ready: (ids) => `现在可以开始的条目：${ids}。`,
    unknownBlocker: (id, blocker) => `条目 ${id} 不能等待 ${JSON.stringify(blocker)}，计划中没有它。`,
    circle: (id) => `条目 ${id} 会等待自己。`,
    missing: (id) => `计划中没有条目 ${JSON.stringify(id)}。list_work 会列出全部。`,
  },
};
