/** The items of a plan of work, and what may be done with them. */
import { z } from 'zod';
import type { WorkTexts } from './work-texts.js';

const STATUS = z.enum(['pending', 'in_progress', 'completed', 'dropped']);

/** How far an item is; `dropped`: it will not be done. */
export type WorkStatus = z.infer<typeof STATUS>;

/** A piece of work. */
export interface WorkItem {
  /** Unique in the plan, and never given again. */
  readonly id: string;
  readonly subject: string;
  /** @default '' */
  readonly details: string;
  readonly status: WorkStatus;
  /** Who works on it. @default '' */
  readonly owner: string;
  /** Ids of items that have to be finished first. */
  readonly blockedBy: readonly string[];
  /** Idempotency key of the call that made it. */
  readonly key: string;
}

/** A plan of work, as sessions keep it. */
export interface WorkPlan {
  /** In the order in which they were made. */
  readonly items: readonly WorkItem[];
  /** Items that were ever made: the id of the last one. */
  readonly made: number;
}

/** A plan without items. */
export const EMPTY_PLAN: WorkPlan = Object.freeze({ items: Object.freeze([]), made: 0 });

/** What came of a call. */
export interface WorkResult {
  /** @default the plan as it was */
  readonly plan?: WorkPlan;
  /** For the model. */
  readonly text: string;
  readonly isError?: boolean;
}

/** Items of one call. */
const MAX_NEW = 50;
const MAX_SUBJECT = 500;
const MAX_DETAILS = 10_000;
/** Items that one may wait for. */
const MAX_BLOCKERS = 50;

const subject = z.string().trim().min(1).max(MAX_SUBJECT);
const details = z.string().max(MAX_DETAILS);
const owner = z.string().max(MAX_SUBJECT);
const blockedBy = z.array(z.string()).max(MAX_BLOCKERS);

/** Arguments of `create_work`. */
export const NEW_ITEMS = z.object({
  items: z
    .array(z.object({ subject, details: details.optional(), owner: owner.optional(), blockedBy: blockedBy.optional() }))
    .min(1)
    .max(MAX_NEW),
});

/** Arguments of `update_work`. */
export const UPDATE = z.object({
  id: z.string(),
  status: STATUS.optional(),
  subject: subject.optional(),
  details: details.optional(),
  owner: owner.optional(),
  blockedBy: blockedBy.optional(),
});

/** A plan as a session keeps it. */
export const WORK_PLAN: z.ZodType<WorkPlan> = z.object({
  items: z.array(
    z.object({
      id: z.string(),
      subject: z.string(),
      details: z.string(),
      status: STATUS,
      owner: z.string(),
      blockedBy: z.array(z.string()),
      key: z.string(),
    }),
  ),
  made: z.number(),
});

/** Whether nothing is left to do for an item. */
export function isFinished({ status }: WorkItem): boolean {
  return status === 'completed' || status === 'dropped';
}

/** Ids of the items that an item still waits for. */
export function openBlockers(item: WorkItem, { items }: WorkPlan): readonly string[] {
  return item.blockedBy.filter((id) => items.some((one) => one.id === id && !isFinished(one)));
}

/** Adds items. The same key makes nothing again. */
export function createItems(
  plan: WorkPlan,
  { items: wanted }: z.infer<typeof NEW_ITEMS>,
  { maxItems, key, texts }: { readonly maxItems: number; readonly key: string; readonly texts: WorkTexts },
): WorkResult {
  const made = plan.items.filter((item) => item.key === key);
  if (made.length > 0) return { text: createdText(made, plan, texts) };
  const fresh = wanted.map(
    (item, at): WorkItem => ({
      id: `${plan.made + at + 1}`,
      subject: item.subject,
      details: item.details ?? '',
      status: 'pending',
      owner: item.owner ?? '',
      blockedBy: [...new Set((item.blockedBy ?? []).map((id) => ownId(id, plan.made)))],
      key,
    }),
  );
  const whole: WorkPlan = { items: [...plan.items, ...fresh], made: plan.made + fresh.length };
  const problem = fresh.map((item) => blockerProblem(item, whole, texts)).find((one) => one !== undefined);
  if (problem !== undefined) return { text: texts.notAdded(problem), isError: true };
  const next = withinBounds(whole, maxItems);
  if (next !== undefined) return { plan: next, text: createdText(fresh, next, texts) };
  return { text: texts.tooMany(maxItems), isError: true };
}

/** Changes an item. */
export function updateItem(plan: WorkPlan, { id, ...changes }: z.infer<typeof UPDATE>, texts: WorkTexts): WorkResult {
  const before = plan.items.find((item) => item.id === id);
  if (before === undefined) return missing(plan, id, texts);
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  const item: WorkItem = { ...before, ...given, blockedBy: [...new Set(changes.blockedBy ?? before.blockedBy)] };
  const next: WorkPlan = { ...plan, items: plan.items.map((one) => (one.id === id ? item : one)) };
  const problem = changes.blockedBy === undefined ? undefined : blockerProblem(item, next, texts);
  if (problem !== undefined) return { text: texts.notChanged(problem), isError: true };
  const waits = openBlockers(item, next);
  if (waits.length > 0 && (item.status === 'in_progress' || item.status === 'completed')) {
    return { text: texts.notYet(id, waits.join(', ')), isError: true };
  }
  const freed = next.items.filter(
    (one) => !isFinished(one) && openBlockers(one, next).length === 0 && openBlockers(one, plan).length > 0,
  );
  const ready = freed.length === 0 ? '' : `\n${texts.ready(freed.map((one) => one.id).join(', '))}`;
  return { plan: next, text: `${lineOf(item, next, texts)}${ready}` };
}

/** An item with its details. */
export function itemOf(plan: WorkPlan, id: string, texts: WorkTexts): WorkResult {
  const item = plan.items.find((one) => one.id === id);
  if (item === undefined) return missing(plan, id, texts);
  const line = lineOf(item, plan, texts);
  return { text: item.details === '' ? line : `${line}\n${item.details}` };
}

/** An item in one line, whatever the model writes. */
export function lineOf(item: WorkItem, plan: WorkPlan, texts: WorkTexts): string {
  const { id, subject: said, status, owner: who } = item;
  const waits = isFinished(item) ? [] : openBlockers(item, plan);
  const notes = [
    ...(who === '' ? [] : [texts.owner(oneLine(who))]),
    ...(waits.length > 0 ? [texts.waits(waits.join(', '))] : []),
  ];
  return `${id}. [${status}] ${oneLine(said)}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function createdText(items: readonly WorkItem[], plan: WorkPlan, texts: WorkTexts): string {
  return items.map((item) => lineOf(item, plan, texts)).join('\n');
}

/** `#2` is the second item of the same call. */
function ownId(id: string, made: number): string {
  const own = /^#([1-9]\d{0,3})$/.exec(id.trim())?.[1];
  return own === undefined ? id.trim() : `${made + Number(own)}`;
}

function blockerProblem(item: WorkItem, { items }: WorkPlan, texts: WorkTexts): string | undefined {
  const byId = new Map(items.map((one) => [one.id, one]));
  const unknown = item.blockedBy.find((id) => !byId.has(id));
  if (unknown !== undefined) return texts.unknownBlocker(item.id, unknown);
  const seen = new Set<string>();
  const open = [...item.blockedBy];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === item.id) return texts.circle(item.id);
    if (seen.has(id)) continue;
    seen.add(id);
    open.push(...(byId.get(id)?.blockedBy ?? []));
  }
  return undefined;
}

/** The plan without the oldest finished items that no open one names, as far as it has to be; undefined when that is not enough. */
function withinBounds(plan: WorkPlan, maxItems: number): WorkPlan | undefined {
  let left = plan.items.length - maxItems;
  if (left <= 0) return plan;
  const named = new Set(plan.items.filter((item) => !isFinished(item)).flatMap((item) => item.blockedBy));
  const items = plan.items.filter((item) => {
    if (left <= 0 || !isFinished(item) || named.has(item.id)) return true;
    left -= 1;
    return false;
  });
  return left > 0 ? undefined : { ...plan, items };
}

function missing({ items }: WorkPlan, id: string, texts: WorkTexts): WorkResult {
  const ids = items.map((item) => item.id);
  return { text: texts.missing(id, ids), isError: true };
}
