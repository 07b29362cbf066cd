/** The eight stages of a chat as cards: which there are, how each stands, which lie side by side. */
import type { ChatPicture, StagePicture } from '../../src/canvas/picture/picture.js';

/** How a card looks. `late` waits for its turn; `short` left the others out. */
export type StageLook =
  | 'late'
  | 'running'
  | 'done'
  | 'cached'
  | 'degraded'
  | 'skipped'
  | 'cancelled'
  | 'failed'
  | 'short';

export interface StageCardModel {
  readonly stage: number;
  readonly look: StageLook;
  readonly ms?: number;
  readonly budgetMs?: number;
  readonly isOverBudget: boolean;
  /** Why the others were left out. */
  readonly reason?: string;
  readonly told?: StagePicture;
}

/** Stages in their order; those of one lane work at the same time. */
const LANES: readonly (readonly number[])[] = [[1], [2, 3], [4], [5], [6], [7], [8]];

/** The stage in which each short circuit is decided. */
const DECIDED_IN: Readonly<Record<string, number>> = { A: 4, B: 5, C: 6 };

const LOOKS: Readonly<Record<string, StageLook>> = {
  running: 'running',
  ok: 'done',
  cache_hit: 'cached',
  degraded: 'degraded',
  skipped: 'skipped',
  cancelled: 'cancelled',
  failed: 'failed',
};

/** Cards by lane. `isAtWork`: whether the run goes on; what was running when it ended was cut off. */
export function stageLanes(chat: ChatPicture | undefined, isAtWork: boolean): readonly (readonly StageCardModel[])[] {
  const told = new Map(chat?.stages.map((stage) => [stage.stage, stage]));
  const { shortcut } = chat ?? {};
  const decided = shortcut === undefined ? undefined : DECIDED_IN[shortcut.kind];
  return LANES.map((lane) =>
    lane.map((stage): StageCardModel => {
      const one = told.get(stage);
      const isShort = stage === decided;
      const look = isShort ? 'short' : lookOf(one, shortcut?.skipped.includes(stage) === true, isAtWork);
      return {
        stage,
        look,
        isOverBudget: one?.isOverBudget === true,
        // A stage that did nothing took no time.
        ...(one?.ms !== undefined && look !== 'skipped' && { ms: one.ms }),
        ...(one?.budgetMs !== undefined && one.budgetMs > 0 && { budgetMs: one.budgetMs }),
        ...(isShort && shortcut !== undefined && { reason: shortcut.reason }),
        ...(one !== undefined && { told: one }),
      };
    }),
  );
}

function lookOf(told: StagePicture | undefined, isLeftOut: boolean, isAtWork: boolean): StageLook {
  if (told === undefined) return isLeftOut ? 'skipped' : 'late';
  const look = LOOKS[told.status] ?? 'done';
  return look === 'running' && !isAtWork ? 'cancelled' : look;
}

/** What a chat that asked back offers to be asked next; empty where it asked for words. */
export function offeredBack(chat: ChatPicture | undefined): readonly string[] {
  if (chat?.shortcut?.kind !== 'A') return [];
  const options = chat.stages.find(({ stage }) => stage === 4)?.detail?.options;
  return Array.isArray(options) ? options.filter((option) => typeof option === 'string') : [];
}
