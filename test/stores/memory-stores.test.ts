import { describe, expect, it } from 'vitest';
import type { AgentQuery, AgentRecord } from '../../src/records/agents.js';
import type { RunRecord } from '../../src/records/runs.js';
import type { SessionRecord } from '../../src/records/sessions.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';

const agent = (id: string, change: Partial<AgentRecord> = {}): AgentRecord => ({
  id,
  title: id,
  description: null,
  avatar: null,
  permission: 'me',
  canvasType: null,
  canvasCategory: 'agent_canvas',
  tags: '',
  dsl: { components: {} },
  createdAt: Number(id),
  updatedAt: 0,
  ...change,
});
const session = (id: string, change: Partial<SessionRecord> = {}): SessionRecord => ({
  id,
  agentId: 'a',
  name: id,
  userId: '',
  source: 'workflow',
  messages: [],
  references: [],
  dsl: {},
  tokens: 0,
  durationMs: 0,
  round: 0,
  errors: null,
  createdAt: 0,
  updatedAt: 0,
  ...change,
});
const run = (id: string, status: RunRecord['status']): RunRecord => ({
  id,
  agentId: 'a',
  sessionId: 's',
  messageId: 'm',
  status,
  startedAt: Number(id),
  usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0, calls: 0 },
  lastSeq: 0,
});
const ALL: AgentQuery = { offset: 0, limit: 10, orderBy: 'createdAt', descending: false };
const BOUNDS = { maxEvents: 100, maxBytes: 1_000_000 };
const events = (from: number, count: number, size = 10) =>
  Array.from({ length: count }, (_, index) => ({ seq: from + index, event: 'e', json: 'x'.repeat(size) }));

describe('agents in memory', () => {
  it('belong to their tenant', async () => {
    const { agents } = createMemoryStores();
    await agents.insert('t', agent('1'));
    expect(await agents.find('u', '1')).toBeUndefined();
    expect(await agents.update('u', '1', { title: 'x' })).toBeUndefined();
    expect(await agents.delete('u', '1')).toBe(false);
    expect((await agents.list('u', ALL)).total).toBe(0);
    await agents.insert('u', agent('1'));
    expect(await agents.delete('t', '1')).toBe(true);
    expect(await agents.find('u', '1')).toBeDefined();
  });

  it('have titles of their own, in each category', async () => {
    const { agents } = createMemoryStores();
    await agents.insert('t', agent('1', { title: 'Demo' }));
    await expect(agents.insert('t', agent('2', { title: 'dEMO' }))).rejects.toMatchObject({ code: 'CONFLICT' });
    await agents.insert('t', agent('3', { title: 'Demo', canvasCategory: 'other' }));
    await agents.insert('u', agent('4', { title: 'Demo' }));
    expect(await agents.update('t', '1', { title: 'demo' })).toMatchObject({ title: 'demo' });
    await expect(agents.update('t', '3', { canvasCategory: 'agent_canvas' })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
  });

  it.each<[Partial<AgentQuery>, string[]]>([
    [{}, ['1', '2', '3']],
    [{ descending: true }, ['3', '2', '1']],
    [{ offset: 1, limit: 1 }, ['2']],
    [{ keywords: 'WEATHER' }, ['1', '3']],
    [{ tags: ['red', 'none'] }, ['2']],
    [{ categories: ['flow'] }, ['3']],
    [{ orderBy: 'title' }, ['2', '3', '1']],
    [{ id: '2' }, ['2']],
    [{ canvasType: 'x' }, []],
  ])('are listed by %o', async (query, expected) => {
    const { agents } = createMemoryStores();
    await agents.insert('t', agent('1', { title: 'Weather' }));
    await agents.insert('t', agent('2', { title: 'A', tags: 'blue, red' }));
    await agents.insert('t', agent('3', { title: 'B', tags: 'weather', canvasCategory: 'flow' }));
    const { items } = await agents.list('t', { ...ALL, ...query });
    expect(items.map(({ id }) => id)).toEqual(expected);
  });

  it('are refused when there are too many, or they are too large, and what was there stays', async () => {
    const few = createMemoryStores({ agents: { maxCount: 1 } }).agents;
    await few.insert('t', agent('1'));
    await expect(few.insert('t', agent('2'))).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    expect(await few.update('t', '1', { title: 'still works' })).toBeDefined();
    const small = createMemoryStores({ agents: { maxBytes: 1000 } }).agents;
    await small.insert('t', agent('1'));
    const large = { components: { x: 'x'.repeat(2000) } };
    await expect(small.update('t', '1', { dsl: large })).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    expect((await small.find('t', '1'))?.dsl).toEqual({ components: {} });
  });
});

describe('sessions in memory', () => {
  it('keep the ones used last', async () => {
    const { sessions } = createMemoryStores({ sessions: { maxCount: 2 } });
    await sessions.save('t', session('1'));
    await sessions.save('t', session('2'));
    await sessions.save('t', session('1', { round: 1 }));
    await sessions.save('t', session('3'));
    expect(await sessions.find('t', '2')).toBeUndefined();
    expect(await sessions.find('t', '1')).toMatchObject({ round: 1 });
    expect(await sessions.find('t', '3')).toBeDefined();
  });

  it('refuse one that is larger than all of them may be', async () => {
    const { sessions } = createMemoryStores({ sessions: { maxBytes: 1000 } });
    await sessions.save('t', session('1'));
    const large = session('2', { name: 'x'.repeat(2000) });
    await expect(sessions.save('t', large)).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    expect(await sessions.find('t', '1')).toBeDefined();
  });

  it('are found by what was said, by time and by user, and go with their agent', async () => {
    const { sessions } = createMemoryStores();
    const message = { role: 'user', content: 'Where is Oslo?', id: 'm', createdAt: 0 } as const;
    await sessions.save('t', session('1', { messages: [message], createdAt: 5 }));
    await sessions.save('t', session('2', { userId: 'u', createdAt: 9 }));
    await sessions.save('t', session('3', { agentId: 'b' }));
    const query = { offset: 0, limit: 10, orderBy: 'createdAt', descending: true } as const;
    const ids = async (more: object) =>
      (await sessions.list('t', { agentId: 'a', ...query, ...more })).items.map(({ id }) => id);
    expect(await ids({})).toEqual(['2', '1']);
    expect(await ids({ keywords: 'oslo' })).toEqual(['1']);
    expect(await ids({ from: 6, to: 9 })).toEqual(['2']);
    expect(await ids({ userId: 'u' })).toEqual(['2']);
    await sessions.deleteOf('t', 'a');
    expect(await ids({})).toEqual([]);
    expect(await sessions.find('t', '3')).toBeDefined();
  });
});

describe('runs in memory', () => {
  it('keep all that run and the newest of the others; events go with their run', async () => {
    const { runs, log } = createMemoryStores({ runs: { maxCount: 2 } });
    await runs.save('t', run('1', 'running'));
    await runs.save('t', run('2', 'succeeded'));
    await log.append('t', '2', { events: events(1, 1) });
    await runs.save('t', run('3', 'running'));
    expect((await runs.list('t', { agentId: 'a', offset: 0, limit: 10 })).items.map(({ id }) => id)).toEqual([
      '3',
      '1',
    ]);
    expect(await log.read('t', '2', 0, BOUNDS)).toBeUndefined();
    await expect(runs.save('t', run('4', 'running'))).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    expect((await runs.list('t', { agentId: 'a', offset: 0, limit: 10, status: 'running' })).total).toBe(2);
    expect(await runs.deleteOf('t', 'a')).toEqual(['1', '3']);
  });
});

describe('the log in memory', () => {
  it('reads after a number, in pages', async () => {
    const { log } = createMemoryStores();
    expect(await log.read('t', 'r', 0, BOUNDS)).toBeUndefined();
    await log.append('t', 'r', { events: events(1, 5) });
    const seqs = async (after: number, bounds = BOUNDS) =>
      (await log.read('t', 'r', after, bounds))?.map(({ seq }) => seq);
    expect(await seqs(0)).toEqual([1, 2, 3, 4, 5]);
    expect(await seqs(3)).toEqual([4, 5]);
    expect(await seqs(5)).toEqual([]);
    expect(await seqs(9)).toEqual([]);
    expect(await seqs(0, { maxEvents: 2, maxBytes: 1000 })).toEqual([1, 2]);
    expect(await seqs(0, { maxEvents: 9, maxBytes: 25 })).toEqual([1, 2]);
    expect(await seqs(0, { maxEvents: 9, maxBytes: 1 })).toEqual([1]);
    expect(await log.read('u', 'r', 0, BOUNDS)).toBeUndefined();
  });

  it('refuses a gap', () => {
    const { log } = createMemoryStores();
    expect(() => log.append('t', 'r', { events: events(2, 1) })).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
  });

  it('drops the logs of ended runs when room is needed, and refuses when that is not enough', async () => {
    const { log } = createMemoryStores({ log: { maxBytes: 100, maxRunBytes: 1000 } });
    await log.append('t', 'old', { events: events(1, 1, 40) });
    await log.append('t', 'live', { events: events(1, 1, 40) });
    await log.end('t', 'old');
    await log.append('t', 'live', { events: events(2, 1, 40) });
    expect(await log.read('t', 'old', 0, BOUNDS)).toBeUndefined();
    expect(() => log.append('t', 'live', { events: events(3, 1, 40) })).toThrow(
      expect.objectContaining({ code: 'LIMIT_REACHED' }),
    );
    expect(await log.read('t', 'live', 0, BOUNDS)).toHaveLength(2);
    await log.delete('t', 'live');
    await log.append('t', 'next', { events: events(1, 2, 40) });
  });
});

describe('files in memory', () => {
  it('are not found any more when they have expired', async () => {
    const { files } = createMemoryStores();
    const file = { name: 'f', mimeType: 'text/plain', bytes: Uint8Array.of(1), createdAt: 1 };
    await files.save('t', { ...file, id: 'old', expiresAt: Date.now() - 1 });
    await files.save('t', { ...file, id: 'young', expiresAt: Date.now() + 60_000 });
    expect(await files.find('t', 'old')).toBeUndefined();
    expect(await files.find('t', 'young')).toMatchObject({ id: 'young' });
  });

  it('belong to their tenant; the newest are kept', async () => {
    const { files } = createMemoryStores({ files: { maxBytes: 10 } });
    const file = (id: string, size: number) => ({
      id,
      name: 'n',
      mimeType: 'm',
      bytes: new Uint8Array(size),
      createdAt: 0,
    });
    await files.save('t', file('1', 6));
    expect(await files.find('u', '1')).toBeUndefined();
    await files.save('t', file('2', 6));
    expect(await files.find('t', '1')).toBeUndefined();
    await expect(files.save('t', file('3', 11))).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    expect(await files.find('t', '2')).toBeDefined();
  });
});

describe('snapshots in memory', () => {
  it('take room of the log, and go with it', async () => {
    const { runs, log } = createMemoryStores({ runs: { maxCount: 1 }, log: { maxBytes: 200 } });
    const snapshot = { version: 1, run: '1', planHash: 'p', at: 1, seq: 0, state: { text: 'x'.repeat(60) } } as const;
    await runs.save('t', run('1', 'running'));
    await log.append('t', '1', { events: [], snapshot });
    expect(() => log.append('t', '2', { events: [], snapshot })).toThrow(
      expect.objectContaining({ code: 'LIMIT_REACHED' }),
    );
    // In the place of the one before.
    await log.append('t', '1', { events: [], snapshot });
    await runs.save('t', run('1', 'succeeded'));
    expect(await log.snapshot('t', '1')).toEqual(snapshot);
    await runs.save('t', run('2', 'running'));
    expect(await log.snapshot('t', '1')).toBeUndefined();
    await log.append('t', '2', { events: [], snapshot });
  });
});
