import { VirtualTimeScheduler } from 'rxjs';
import { expect, it, vi } from 'vitest';
import { Deletions, UNDO_MS } from '../../../web/agents/deletions.js';

const agent = { id: 'a', title: 'A' };

function setUp(remove: (id: string) => Promise<unknown> = async () => undefined) {
  const scheduler = new VirtualTimeScheduler();
  const removed: [id: string, atMs: number][] = [];
  const deletions = new Deletions({
    scheduler,
    remove: (id) => {
      removed.push([id, scheduler.now()]);
      return remove(id);
    },
  });
  return { scheduler, deletions, removed };
}

it('deletes when the time to take it back is over', async () => {
  const { scheduler, deletions, removed } = setUp();
  deletions.add(agent);
  deletions.add(agent);
  expect(deletions.pending).toEqual([agent]);
  scheduler.flush();
  await vi.waitFor(() => expect(deletions.pending).toEqual([]));
  expect(removed).toEqual([['a', UNDO_MS]]);
});

it('deletes nothing that was taken back', () => {
  const { scheduler, deletions, removed } = setUp();
  deletions.add(agent);
  deletions.undo('a');
  scheduler.flush();
  deletions.flush();
  expect(deletions.pending).toEqual([]);
  expect(removed).toEqual([]);
});

it('deletes at once, and once, when the page is left', async () => {
  const { scheduler, deletions, removed } = setUp();
  deletions.add(agent);
  deletions.flush();
  deletions.flush();
  scheduler.flush();
  expect(removed).toEqual([['a', 0]]);
  await vi.waitFor(() => expect(deletions.pending).toEqual([]));
});

it('cannot be taken back while it is made', () => {
  const { scheduler, deletions } = setUp(() => new Promise(() => undefined));
  deletions.add(agent);
  scheduler.flush();
  deletions.undo('a');
  expect(deletions.pending).toEqual([agent]);
});

it('tells of a deletion that was refused, until that is closed', async () => {
  const { scheduler, deletions } = setUp(() => Promise.reject(new Error('no')));
  deletions.add(agent);
  scheduler.flush();
  await vi.waitFor(() => expect(deletions.failures).toEqual([{ ...agent, error: new Error('no') }]));
  expect(deletions.pending).toEqual([]);
  deletions.undo('a');
  expect(deletions.failures).toEqual([]);
});
