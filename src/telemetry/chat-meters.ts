/** Metrics of chats, from what their nodes tell. */
import type { JsonObject } from '../json.js';
import type { MetricRegistry } from './metric-registry.js';

/** Name of the notices in which a chat tells of itself; its node gives it. */
export const CHAT_NOTICE = 'chat';

/** Bounds of the times of stages in seconds: their budgets lie between 50 ms and 2 s. */
const STAGE_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.35, 0.5, 0.8, 1, 2, 3, 5, 10, 30, 60, 300];

/** Stages that answer from a cache where they can. */
const CACHED: ReadonlySet<unknown> = new Set([2, 3]);

/** Counts what chats tell. */
export interface ChatMeters {
  /** An event of a chat, as its node tells it; another one is left out. */
  told(event: JsonObject): void;
}

/** Counts chats into a registry. */
export function createChatMeters(registry: MetricRegistry): ChatMeters {
  const stages = registry.histogram(
    'runnel_chat_stage_duration_seconds',
    'How long the stages of chats took, those alone that had something to do.',
    ['stage', 'status'],
    STAGE_SECONDS,
  );
  const ended = registry.counter('runnel_chat_stages_total', 'Stages of chats, by how they ended.', [
    'stage',
    'status',
  ]);
  const shortcuts = registry.counter(
    'runnel_chat_shortcuts_total',
    'Chats that left stages out: they asked back (A), answered from a template (B), found nothing (C).',
    ['kind'],
  );
  const caches = registry.counter('runnel_chat_cache_lookups_total', 'Answers of stages that a cache could hold.', [
    'stage',
    'outcome',
  ]);
  const firstTokens = registry.histogram(
    'runnel_chat_first_token_seconds',
    'How long chats took to the first piece of their answer.',
    [],
    STAGE_SECONDS,
  );
  return {
    told({ type, stage, name, status, ms, kind }) {
      if (type === 'stage_end') {
        const [label, outcome] = [String(name), String(status)];
        ended.add(1, label, outcome);
        if (status !== 'skipped' && typeof ms === 'number') stages.observe(ms / 1_000, label, outcome);
        if (CACHED.has(stage) && (status === 'cache_hit' || status === 'ok')) {
          caches.add(1, label, status === 'cache_hit' ? 'hit' : 'miss');
        }
      } else if (type === 'shortcut') shortcuts.add(1, String(kind));
      else if (type === 'first_token' && typeof ms === 'number') firstTokens.observe(ms / 1_000);
    },
  };
}
