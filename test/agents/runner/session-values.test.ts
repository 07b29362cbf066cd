/** Values that a program gives the turns of a session. */
import { lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { agent, createRunner } from '../../../src/entries/agents.js';
import { replies, talk } from '../loop/support.js';

describe('values of a session', () => {
  it('are there from the beginning of a turn, over those of the session, and stay', async () => {
    const model = replies('ok');
    const instructions = ({ session }: { session: { values: object } }) => JSON.stringify(session.values);
    const runner = createRunner({ agent: agent({ name: 'guide', model, instructions, outputKey: 'said' }) });
    await lastValueFrom(runner.run('a', { session: 's', sessionValues: { user: 'Ada', tone: 'dry' } }));
    await lastValueFrom(runner.run('b', { session: 's', sessionValues: { tone: 'warm' } }));
    await lastValueFrom(runner.run('c', { session: 's' }));
    expect(model.requests.map(({ messages }) => talk(messages)[0])).toEqual([
      'system: {"user":"Ada","tone":"dry"}',
      'system: {"user":"Ada","tone":"warm","said":"ok"}',
      'system: {"user":"Ada","tone":"warm","said":"ok"}',
    ]);
    expect((await runner.session('s')).values).toEqual({ user: 'Ada', tone: 'warm', said: 'ok' });
  });

  it.each([[5], ['text'], [null]])('are values by name, not %j', (sessionValues) => {
    const runner = createRunner({ agent: agent({ name: 'guide', model: replies('ok') }) });
    expect(() => runner.run('a', { sessionValues } as never)).toThrowError(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining('"sessionValues"') }),
    );
  });

  it('are for turns that begin', () => {
    const runner = createRunner({ agent: agent({ name: 'guide', model: replies('ok') }) });
    expect(() => runner.resume('s', {}, { sessionValues: {} } as never)).toThrowError(/no option "sessionValues"/);
  });
});
