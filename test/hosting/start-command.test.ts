import { describe, expect, it } from 'vitest';
import { checkedCommand, readStartCommand, startCommand } from '../../src/hosting/start-command.js';

const TARGET = { tenant: 't', agentId: 'a', fallback: 'draft' } as const;
const { turn: PLAIN } = startCommand(TARGET, {});

describe('a start command', () => {
  it('that was made of a checked request is taken as it is, and says the same as one that is read', () => {
    const page = { ...TARGET, page: 'p' };
    for (const target of [TARGET, page]) {
      const command = checkedCommand(target, { ...PLAIN, query: 'hi' }, { run: 'r' });
      expect(readStartCommand(command)).toBe(command);
      expect(JSON.parse(JSON.stringify(command))).toEqual(
        JSON.parse(JSON.stringify(startCommand(target, { query: 'hi' }, { run: 'r' }))),
      );
    }
  });

  it('is checked when it is a copy of a checked one', () => {
    const command = checkedCommand(TARGET, { ...PLAIN, query: 'hi' });
    expect(readStartCommand({ ...command })).toEqual({ ...command });
    expect(() => readStartCommand({ ...command, turn: { ...PLAIN, query: 7 } })).toThrow('`turn.query`');
    expect(() => readStartCommand(JSON.parse(JSON.stringify({ ...command, more: 1 })))).toThrow('not valid');
  });
});
