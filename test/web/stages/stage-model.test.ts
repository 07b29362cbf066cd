import { describe, expect, it } from 'vitest';
import type { ChatPicture, StagePicture } from '../../../src/canvas/picture/picture.js';
import { offeredBack, stageLanes } from '../../../web/stages/stage-model.js';

const told = (stage: number, status: string, more: Partial<StagePicture> = {}): StagePicture => ({
  stage,
  name: `Stage ${stage}`,
  status,
  startedAtMs: 0,
  ...more,
});

const looks = (chat: ChatPicture | undefined, isAtWork = true) =>
  stageLanes(chat, isAtWork).map((lane) => lane.map(({ stage, look }) => `${stage} ${look}`).join(' + '));

const NONE: ChatPicture = { stages: [], evidence: [] };

describe('the cards of a chat', () => {
  it('wait before the first event, rewrite and intent in one place', () => {
    expect(looks(undefined)).toEqual(['1 late', '2 late + 3 late', '4 late', '5 late', '6 late', '7 late', '8 late']);
  });

  it.each([
    ['running', 'running'],
    ['ok', 'done'],
    ['cache_hit', 'cached'],
    ['degraded', 'degraded'],
    ['skipped', 'skipped'],
    ['cancelled', 'cancelled'],
    ['failed', 'failed'],
  ])('say that a stage is %s', (status, look) => {
    expect(looks({ ...NONE, stages: [told(1, status)] })[0]).toBe(`1 ${look}`);
  });

  it('say that what was running when the run ended was cut off', () => {
    expect(looks({ ...NONE, stages: [told(8, 'running')] }, false)[6]).toBe('8 cancelled');
  });

  it.each([
    ['A', [5, 6, 7], 2],
    ['B', [6, 7], 3],
    ['C', [7], 4],
  ] as const)('mark where short circuit %s was decided, and what it left out', (kind, skipped, lane) => {
    const chat = { ...NONE, shortcut: { kind, reason: 'why', skipped, cancelled: [] } };
    expect(looks(chat)[lane]).toMatch(/ short$/);
    expect(looks(chat).filter((look) => look.endsWith('skipped'))).toHaveLength(skipped.length);
    expect(stageLanes(chat, true)[lane]?.[0]?.reason).toBe('why');
  });

  it('tell times and budgets, and none of a stage that did nothing or has no budget', () => {
    const stages = [told(1, 'ok', { ms: 7, budgetMs: 5, isOverBudget: true }), told(4, 'ok', { ms: 0, budgetMs: 0 })];
    const [first, , fourth] = stageLanes({ ...NONE, stages }, true).map(([card]) => card);
    expect(first).toMatchObject({ ms: 7, budgetMs: 5, isOverBudget: true });
    expect(fourth).not.toHaveProperty('budgetMs');
    const skipped = stageLanes({ ...NONE, stages: [told(1, 'skipped', { ms: 0 })] }, true)[0]?.[0];
    expect(skipped).not.toHaveProperty('ms');
  });

  it('offer what was asked back, and nothing of another short circuit or of forged options', () => {
    const stages = [told(4, 'ok', { detail: { options: ['one', 2, 'three'] } })];
    const shortcut = { kind: 'A', reason: '', skipped: [], cancelled: [] };
    expect(offeredBack({ ...NONE, stages, shortcut })).toEqual(['one', 'three']);
    expect(offeredBack({ ...NONE, stages, shortcut: { ...shortcut, kind: 'B' } })).toEqual([]);
    expect(offeredBack({ ...NONE, stages })).toEqual([]);
  });
});
