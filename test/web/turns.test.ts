import { describe, expect, it } from 'vitest';
import { withoutSecrets } from '../../web/chat/report.js';
import { agentAddress, chatAddress, readAddress, runAddress } from '../../web/run/place.js';
import type { RunItem } from '../../web/run/start-turn.js';
import { turnsOf } from '../../web/run/turns.js';

const run = (id: string, message: string, more: Partial<RunItem> = {}): RunItem => ({
  id,
  agent_id: 'a',
  session_id: 's',
  message_id: message,
  parent_run_id: null,
  forked_at: null,
  status: 'succeeded',
  started_at: 1,
  finished_at: 2,
  ...more,
});
const says = (role: string, content: string, id?: string) => ({ role, content, created_at: 1, ...(id && { id }) });
const session = (message: ReturnType<typeof says>[], reference: object[] = []) => ({
  id: 's',
  name: 'n',
  update_time: 1,
  message,
  reference: reference as never[],
});

describe('turns of a conversation', () => {
  it('are questions with their answers, runs and what the answers cite', () => {
    const detail = session(
      [
        says('assistant', 'Hi!', 'prologue'),
        says('user', 'one', 'm1'),
        says('assistant', 'ONE', 'm1'),
        says('user', 'two', 'm2'),
      ],
      [{ chunks: { 1: {} } }],
    );
    expect(turnsOf(detail, [run('r2', 'm2', { status: 'running' }), run('r1', 'm1')])).toEqual([
      { key: 'm1', query: 'one', files: [], answer: 'ONE', reference: { chunks: { 1: {} } }, run: 'r1' },
      { key: 'm2', query: 'two', files: [], run: 'r2', isAtWork: true },
    ]);
  });

  it('know the run that they go on with, and not the one that they were forked from', () => {
    const detail = session([says('user', 'one', 'm1'), says('user', '', 'm2'), says('user', 'x', 'm3')]);
    const runs = [run('r2', 'm2', { parent_run_id: 'r1' }), run('r3', 'm3', { parent_run_id: 'r1', forked_at: 4 })];
    expect(turnsOf(detail, runs).map(({ parent }) => parent)).toEqual([undefined, 'r1', undefined]);
  });

  it('are there for runs that the conversation does not have yet', () => {
    expect(
      turnsOf(session([]), [run('r2', 'm2', { started_at: 2 }), run('r1', 'm1')]).map(({ run: id }) => id),
    ).toEqual(['r1', 'r2']);
  });
});

describe('addresses of an agent', () => {
  it('are read as they are written', () => {
    const odd = 'a/b ?#%';
    expect(readAddress(agentAddress(odd))).toEqual({ agent: odd });
    expect(readAddress(runAddress(odd, 'r/1'))).toEqual({ agent: odd, run: 'r/1' });
    expect(readAddress(chatAddress('a', 's'))).toEqual({ agent: 'a', session: 's' });
    expect(readAddress('/agents/%zz')).toEqual({ agent: '%zz' });
    expect(readAddress('/elsewhere')).toBeUndefined();
  });
});

describe('a report', () => {
  it('has no secrets, whatever holds them', () => {
    const told = JSON.stringify(
      withoutSecrets({
        api_key: 'abc',
        headers: [{ Authorization: 'Bearer abcdefghijk', 'x-other': 'fine' }],
        text: 'use sk-abcdefghijklmnopqrstuv and Bearer abcdefghijk, then eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.sig',
        usage: { totalTokens: 12, token: 3 },
      }),
    );
    expect(told).not.toMatch(/abcdefghijk|eyJ|"abc"/);
    expect(told).toContain('"totalTokens":12,"token":3');
    expect(told).toContain('fine');
  });

  it('is bounded in depth and length', () => {
    let deep: object = {};
    for (let level = 0; level < 10_000; level += 1) deep = { deep };
    const told = JSON.stringify(withoutSecrets({ deep, text: 'x'.repeat(100_000) } as never));
    expect(told.length).toBeLessThan(6_000);
  });
});
