/** States of runs, nodes and activations in words, and the colours that go with them. */
import type { ActivationStatus, NodeStatus, PictureStatus } from '../../src/canvas/picture/picture.js';
import { defineTexts } from '../shell/texts.js';

/** `held`: a token waits for others where ways join. */
export type AnyStatus = ActivationStatus | NodeStatus | PictureStatus | 'held';

export const statusTexts = defineTexts<Readonly<Record<AnyStatus, string>>>({
  en: {
    open: 'running',
    settled: 'done',
    failed: 'failed',
    retried: 'tried again',
    skipped: 'passed over',
    waiting: 'waiting',
    stopped: 'stopped',
    idle: 'not reached',
    queued: 'queued',
    held: 'waits for other ways',
    running: 'running',
    retrying: 'waits for its next try',
    done: 'done',
    stopping: 'stopping',
    succeeded: 'succeeded',
    cancelled: 'cancelled',
  },
  zh: {
    open: '运行中',
    settled: '完成',
    failed: '失败',
    retried: '已重试',
    skipped: '已跳过',
    waiting: '等待中',
    stopped: '已停止',
    idle: '未到达',
    queued: '排队中',
    held: '等待其他路径',
    running: '运行中',
    retrying: '等待重试',
    done: '完成',
    stopping: '正在停止',
    succeeded: '成功',
    cancelled: '已取消',
  },
});

/** Which of the colours of `tokens.css` a status has. */
export type StatusTone = 'running' | 'done' | 'waiting' | 'failed' | 'stopped' | 'skipped';

const TONES: Readonly<Record<AnyStatus, StatusTone>> = {
  open: 'running',
  running: 'running',
  settled: 'done',
  done: 'done',
  succeeded: 'done',
  waiting: 'waiting',
  queued: 'waiting',
  held: 'waiting',
  retrying: 'waiting',
  retried: 'waiting',
  failed: 'failed',
  stopped: 'stopped',
  stopping: 'stopped',
  cancelled: 'stopped',
  skipped: 'skipped',
  idle: 'skipped',
};

export const toneOf = (status: AnyStatus): StatusTone => TONES[status];
