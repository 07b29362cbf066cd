import { BehaviorSubject, NEVER, Subject } from 'rxjs';
import { expect, it } from 'vitest';
import { projectionOf } from '../../src/hosting/canvases.js';
import type { EventFrame } from '../../src/hosting/event-frame.js';
import { type Following, follow } from '../../src/hosting/follow.js';
import type { LiveRun } from '../../src/hosting/live-run.js';
import { ClientPresence } from '../../src/hosting/liveness.js';
import { PassingValues } from '../../src/passing-values.js';
import { createMemoryRunLog } from '../../src/stores/memory-run-log.js';

it('knows how far clients are behind, for as long as they follow', async () => {
  const followers = new PassingValues<Following>();
  const frames = new Subject<EventFrame>();
  const live = {
    lastSeq: 0,
    hasEnded: false,
    frames$: frames,
    clients: new ClientPresence(),
    publishedAfter: (seq: number) => (seq >= live.lastSeq ? [] : undefined),
  };
  const show = (seq: number): void => {
    live.lastSeq = seq;
    frames.next({ seq, event: 'message', json: '{}' } as EventFrame);
  };
  const ready$ = new BehaviorSubject(true);
  const behind = () => followers.list().map((one) => one.behind);
  const seen: number[] = [];
  const following = follow({
    log: createMemoryRunLog(),
    tenant: 't',
    run: 'r',
    findLive: () => live as unknown as LiveRun,
    findRecord: async () => undefined,
    findProjection: async () => projectionOf({ messageId: 'm', sessionId: 's', startedAt: 0 }, undefined),
    openNotifications: () => NEVER,
    after: 0,
    ready$,
    maxQueueBytes: 1_000,
    followers,
  }).subscribe(({ seq }) => seen.push(seq));
  show(1);
  expect(behind()).toEqual([0]);
  ready$.next(false);
  show(2);
  show(3);
  expect(behind()).toEqual([2]);
  ready$.next(true);
  expect([behind(), seen]).toEqual([[0], [1, 2, 3]]);
  following.unsubscribe();
  expect(followers.size).toBe(0);
});
