/** What the stages of a chat did, from the log of its run. */
import { z } from 'zod';
import { type ChatRunInfo, toChatEvent } from '../../chat/chat-frames.js';
import type { ChatEvent } from '../../chat/pipeline/chat-events.js';
import { eventOf } from '../../hosting/event-frame.js';
import type { RunLog } from '../../records/run-log.js';
import { timelineShape } from '../runs/run-view.js';
import { anyObject, string, whole } from '../shapes.js';

/** Bounds of one reading from the log. */
const PAGE = { maxEvents: 512, maxBytes: 512 * 1024 };

const stageShape = z.looseObject({
  stage: whole.describe('1 to 8.'),
  name: string,
  ms: whole,
  status: string.describe('ok, cache_hit, skipped, degraded, cancelled or failed.'),
  over_budget: z.boolean().optional(),
  detail: anyObject,
  event_id: whole.describe('Number of an event.'),
});

/** A timeline with the stages of a chat. */
export const chatTraceShape = timelineShape.extend({
  stages: z
    .array(stageShape)
    .describe('In the order in which they ended; those of a process that was lost are left out.'),
  shortcut: anyObject.nullable().describe('Why stages were left out, and which; null when none was.'),
  first_token_ms: whole.nullable(),
});

type StageEnd = Extract<ChatEvent, { type: 'stage_end' }>;

/** The stages of a chat, why some were left out, and when the answer began. */
export async function chatStages(log: Pick<RunLog, 'read'>, tenant: string, run: string, about: ChatRunInfo) {
  let stages: (Omit<StageEnd, 'type'> & { event_id: number })[] = [];
  let shortcut: Omit<Extract<ChatEvent, { type: 'shortcut' }>, 'type'> | null = null;
  let firstTokenMs: number | null = null;
  let after = 0;
  for (;;) {
    const page = (await log.read(tenant, run, after, PAGE)) ?? [];
    for (const stored of page) {
      after = stored.seq;
      if (stored.event === 'node-delta') continue;
      const source = eventOf(stored);
      // A process that was lost has told stages that are told anew.
      if (source.type === 'node-started' && source.retractFrom !== undefined) stages = [];
      const told = toChatEvent(source, about);
      if (told?.type === 'stage_end') {
        const { type: _, ...stage } = told;
        stages.push({ ...stage, event_id: stored.seq });
      } else if (told?.type === 'shortcut') {
        const { type: _, ...cut } = told;
        shortcut = cut;
      } else if (told?.type === 'first_token') firstTokenMs = told.ms;
    }
    if (page.length === 0) return { stages, shortcut, first_token_ms: firstTokenMs };
  }
}
