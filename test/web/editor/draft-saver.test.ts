/** Saving a draft: when, what becomes of failures, and what is kept in the tab meanwhile. */
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { JsonObject } from '../../../src/json.js';
import { ApiError, type CallOptions, type Client } from '../../../web/api/client.js';
import { DraftSaver } from '../../../web/editor/model/draft-saver.js';
import { keepDraft, keptDraft } from '../../../web/editor/model/kept-draft.js';

/** What a tab keeps, with room for some characters. */
function storage(room = 10_000): Storage {
  const items = new Map<string, string>();
  const setItem = (name: string, text: string): void => {
    if (text.length > room) throw new Error('no room');
    items.set(name, text);
  };
  const getItem = (name: string): string | null => items.get(name) ?? null;
  return { getItem, setItem, removeItem: (name: string) => void items.delete(name) } as unknown as Storage;
}

/** A server with one draft, which answers when the test says so. */
class FakeServer {
  stored: { dsl: JsonObject; update_time: number } = { dsl: { text: 'loaded' }, update_time: 1 };
  isAway = false;
  /** The next answer is lost on its way, behind what it is about. */
  losesAnswer = false;
  readonly patches: JsonObject[] = [];
  /** Answers wait until the test lets them go. */
  gate: Promise<void> = Promise.resolve();

  readonly client = {
    call: async (_: string, { method = 'GET', body }: CallOptions = {}) => {
      await this.gate;
      if (this.isAway) throw new ApiError('away', { code: 0, status: 0 });
      if (method === 'GET') return this.stored;
      const { dsl, if_update_time: time } = body as { dsl: JsonObject; if_update_time: number };
      this.patches.push(dsl);
      if (time !== this.stored.update_time) throw new ApiError('changed', { code: 102, status: 409 });
      this.stored = { dsl, update_time: time + 1 };
      if (!this.losesAnswer) return { update_time: this.stored.update_time };
      this.losesAnswer = false;
      throw new ApiError('lost', { code: 0, status: 0 });
    },
  } as unknown as Client;
}

function open(tab = storage()) {
  const server = new FakeServer();
  const scheduler = new VirtualTimeScheduler();
  let dsl: JsonObject = { text: 'loaded' };
  const saver = new DraftSaver({
    client: server.client,
    agent: 'a',
    updateTime: 1,
    storage: tab,
    dsl: () => dsl,
    scheduler,
    now: () => 5,
  });
  const close = saver.open();
  onTestFinished(() => close());
  const edit = (text: string): void => {
    dsl = { text };
    saver.edited();
  };
  const is = (wanted: string) => vi.waitFor(() => expect(saver.state.is).toBe(wanted));
  return { server, scheduler, saver, edit, is, tab };
}

describe('a draft', () => {
  it('is saved once behind edits that follow each other', async () => {
    const { server, scheduler, saver, edit, is } = open();
    edit('a');
    edit('ab');
    expect(saver.state).toEqual({ is: 'unsaved' });
    scheduler.flush();
    await is('saved');
    expect(server.patches).toEqual([{ text: 'ab' }]);
    expect(saver.updateTime).toBe(2);
  });

  it('is not sent when nothing was edited', async () => {
    const { server, saver, scheduler } = open();
    await saver.flush();
    scheduler.flush();
    expect(server.patches).toEqual([]);
  });

  it('is saved again when it was edited while it was being saved', async () => {
    const { server, scheduler, saver, edit, is } = open();
    let letGo = (): void => {};
    server.gate = new Promise((resolve) => {
      letGo = resolve;
    });
    edit('a');
    scheduler.flush();
    await is('saving');
    edit('ab');
    letGo();
    await is('unsaved');
    scheduler.flush();
    await is('saved');
    expect(server.patches).toEqual([{ text: 'a' }, { text: 'ab' }]);
    expect(saver.updateTime).toBe(3);
  });

  it('is kept in the tab while the server is away, and forgotten when it is saved', async () => {
    const { server, scheduler, edit, is, tab, saver } = open();
    server.isAway = true;
    edit('written away');
    scheduler.flush();
    await is('away');
    expect(saver.state).toEqual({ is: 'away', isKept: true });
    expect(keptDraft(tab, 'a')).toEqual({ dsl: { text: 'written away' }, updateTime: 1 });
    server.isAway = false;
    // The next try, by itself.
    scheduler.flush();
    await is('saved');
    expect(server.stored.dsl).toEqual({ text: 'written away' });
    expect(keptDraft(tab, 'a')).toBeUndefined();
  });

  it('says when the tab has no room for it', async () => {
    const { server, scheduler, edit, is, saver } = open(storage(10));
    server.isAway = true;
    edit('too long for the tab');
    scheduler.flush();
    await is('away');
    expect(saver.state).toEqual({ is: 'away', isKept: false });
  });

  it('is not written over what another one saved, until its user says so', async () => {
    const { server, scheduler, edit, is, saver, tab } = open();
    server.stored = { dsl: { text: 'theirs' }, update_time: 9 };
    edit('mine');
    scheduler.flush();
    await is('conflict');
    edit('mine too');
    scheduler.flush();
    await saver.flush();
    expect(server.stored.dsl).toEqual({ text: 'theirs' });
    expect(keptDraft(tab, 'a')?.dsl).toEqual({ text: 'mine too' });
    await saver.keepMine();
    await is('saved');
    expect(server.stored).toEqual({ dsl: { text: 'mine too' }, update_time: 10 });
  });

  it('is saved when only the answer was lost', async () => {
    const { server, scheduler, edit, is, saver } = open();
    server.losesAnswer = true;
    edit('mine');
    scheduler.flush();
    await is('away');
    scheduler.flush();
    await is('saved');
    expect(saver.updateTime).toBe(2);
    expect(server.stored.dsl).toEqual({ text: 'mine' });
  });

  it('is kept and sent when the page goes before it was saved', async () => {
    const { server, edit, saver, tab } = open();
    saver.leave();
    expect(keptDraft(tab, 'a')).toBeUndefined();
    edit('typed last');
    saver.leave();
    expect(keptDraft(tab, 'a')).toEqual({ dsl: { text: 'typed last' }, updateTime: 1 });
    await vi.waitFor(() => expect(server.stored.dsl).toEqual({ text: 'typed last' }));
    expect(server.patches).toHaveLength(1);
  });

  it('is forgotten when its user loads the other one', async () => {
    const { server, scheduler, edit, is, saver, tab } = open();
    server.stored = { dsl: { text: 'theirs' }, update_time: 9 };
    edit('mine');
    scheduler.flush();
    await is('conflict');
    saver.giveUp();
    expect(keptDraft(tab, 'a')).toBeUndefined();
    expect(server.stored.dsl).toEqual({ text: 'theirs' });
  });
});

describe('what a tab keeps', () => {
  it('is bounded, and nothing older stays in its place', () => {
    const tab = storage(1_000);
    expect(keepDraft(tab, 'a', { dsl: { text: 'short' }, updateTime: 1 })).toBe(true);
    expect(keepDraft(tab, 'a', { dsl: { text: 'x'.repeat(2_000) }, updateTime: 1 })).toBe(false);
    expect(keptDraft(tab, 'a')).toBeUndefined();
  });

  it('is nothing when it cannot be read', () => {
    const tab = storage();
    tab.setItem('runnel.editor.a', '{"dsl": ');
    expect(keptDraft(tab, 'a')).toBeUndefined();
    tab.setItem('runnel.editor.a', '{"dsl": [], "updateTime": "x"}');
    expect(keptDraft(tab, 'a')).toBeUndefined();
  });
});
