/** A node's state in words and picture, and what its card says in the meantime. */
import {
  Check,
  CircleAlert,
  CirclePause,
  CircleStop,
  Clock,
  LoaderCircle,
  type LucideIcon,
  RotateCw,
  SkipForward,
} from 'lucide-react';
import type { ActivationPicture, NodePicture, NodeStatus } from '../../../src/canvas/picture/picture.js';
import { defineTexts } from '../../shell/texts.js';

/** States as words: `detail` behind the state, such as a time. */
export const stateTexts = defineTexts({
  en: {
    states: {
      idle: '',
      queued: 'queued',
      running: 'running',
      waiting: 'waits for an answer',
      retrying: 'retrying',
      done: 'done',
      skipped: 'passed over',
      failed: 'failed',
      stopped: 'stopped',
    } satisfies Record<NodeStatus, string>,
    try: (attempt: number, attempts: number | undefined) =>
      attempts === undefined ? `${attempt}` : `${attempt} of ${attempts}`,
    tokens: (count: string) => `${count} tokens`,
    missing: (names: string) => `No value from ${names}`,
    pass: (pass: number, of: number | undefined) => (of === undefined ? `pass ${pass}` : `pass ${pass} of ${of}`),
    times: (count: number) => `${count} ×`,
    chosen: 'chosen',
  },
  zh: {
    states: {
      idle: '',
      queued: '排队中',
      running: '运行中',
      waiting: '等待回答',
      retrying: '重试中',
      done: '完成',
      skipped: '已跳过',
      failed: '失败',
      stopped: '已停止',
    } satisfies Record<NodeStatus, string>,
    try: (attempt: number, attempts: number | undefined) =>
      attempts === undefined ? `第 ${attempt} 次` : `第 ${attempt} 次，共 ${attempts} 次`,
    tokens: (count: string) => `${count} 个令牌`,
    missing: (names: string) => `缺少来自 ${names} 的值`,
    pass: (pass: number, of: number | undefined) => (of === undefined ? `第 ${pass} 轮` : `第 ${pass} 轮，共 ${of} 轮`),
    times: (count: number) => `${count} 次`,
    chosen: '已选择',
  },
});

export type StateTexts = (typeof stateTexts)['en'];

export const STATE_ICONS: Readonly<Record<Exclude<NodeStatus, 'idle'>, LucideIcon>> = {
  queued: Clock,
  running: LoaderCircle,
  waiting: CirclePause,
  retrying: RotateCw,
  done: Check,
  skipped: SkipForward,
  failed: CircleAlert,
  stopped: CircleStop,
};

/** The activation that a card tells of: the one at work, else the newest. */
export function newestActivation({ activations }: NodePicture): ActivationPicture | undefined {
  return activations.findLast(({ status }) => status === 'open') ?? activations.at(-1);
}

/** The state in words without what changes with time: for readers of the screen. */
export function stateWords(node: NodePicture, words: StateTexts): string {
  const state = words.states[node.status];
  if (node.status === 'retrying') return `${state} ${words.try(node.attempt ?? 2, node.attempts)}`;
  return state;
}

/** What stands behind the state: how long, how much, at `nowMs` in the run. */
export function stateDetail(node: NodePicture, words: StateTexts, nowMs: number): string {
  const newest = newestActivation(node);
  if (node.status === 'running' && newest !== undefined) return formatMs(Math.max(0, nowMs - newest.startedAtMs));
  if (node.status === 'retrying') return words.try(node.attempt ?? 2, node.attempts);
  if (node.status !== 'done') return '';
  const { busyMs, activations } = node.sums;
  return activations > 1 ? `${words.times(activations)}, ${formatMs(busyMs)}` : formatMs(busyMs);
}

/** What its model calls took; empty when there were none. */
export function tokensText({ sums }: NodePicture, words: StateTexts): string {
  return sums.usage.totalTokens > 0 ? words.tokens(formatCount(sums.usage.totalTokens)) : '';
}

/** Rounds of a container; empty before the first. */
export function roundsText({ rounds }: NodePicture, words: StateTexts): string {
  return rounds === undefined || rounds.begun === 0 ? '' : words.pass(rounds.begun, rounds.of);
}

/** What the card says in place of what it does: an error, what was missing, or the end of what it writes. */
export function tellingText(node: NodePicture, words: StateTexts): string {
  const newest = newestActivation(node);
  if (newest === undefined) return '';
  if (node.status === 'failed' || node.status === 'retrying') return newest.error?.message ?? '';
  if (node.status === 'skipped') return words.missing((newest.missing ?? []).join(', '));
  return lastOf(newest.text === '' ? newest.thinking : newest.text);
}

/** About what two lines of a card hold. */
const MAX_END = 78;

/** The end of a text, cut between two words. */
function lastOf(text: string): string {
  const line = text
    .slice(-4 * MAX_END)
    .replace(/\s+/g, ' ')
    .trim();
  if (line.length <= MAX_END) return line;
  const end = line.slice(-MAX_END);
  const cut = end.indexOf(' ');
  return `…${cut >= 0 && cut < 20 ? end.slice(cut + 1) : end}`;
}

/** `412 ms`, `3.2 s`, `2 min 5 s`. */
export function formatMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

function formatCount(count: number): string {
  return count < 10_000 ? String(count) : `${Math.round(count / 1_000)}k`;
}
