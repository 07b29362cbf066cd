import { firstValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  type AgentOptions,
  agent,
  approve,
  called,
  defineMiddleware,
  files,
  handoff,
  memoryFiles,
  reduceToolResults,
  subAgents,
} from '../../../src/entries/agents.js';
import { invoke, run } from '../../../src/index.js';
import { echo, replies, say } from '../loop/support.js';

const made = (options: Partial<AgentOptions>) => () =>
  agent({ name: 'clerk', model: replies('Done.'), tools: [echo('send_mail'), echo('look')], ...options });

describe('names of tools that an agent does not have', () => {
  const known = 'which the agent does not have. Its tools are: send_mail, look.';
  it.each<[string, Partial<AgentOptions>, string]>([
    [
      'approve, spelt nearly so',
      { use: [approve(['send_mial'])] },
      `agent "clerk": the middleware "approve" is for a tool "send_mial", ${known} Did you mean "send_mail"?`,
    ],
    [
      'approve, spelt nearly so beside one that is there',
      { use: [approve(['look', 'sendMails'])] },
      `is for a tool "sendMails", ${known} Did you mean "send_mail"?`,
    ],
    ['approve, none of them there', { use: [approve(['pay', 'buy'])] }, `is for a tool "pay", ${known}`],
    ['an agent without tools', { tools: [], use: [approve(['pay'])] }, 'It has no tools.'],
    [
      'reduceToolResults',
      { use: [reduceToolResults({ exempt: ['lok'] })] },
      `the middleware "reduceToolResults" is for a tool "lok", ${known} Did you mean "look"?`,
    ],
    ['called', { stopWhen: [called('lookk')] }, `a rule in "stopWhen" is for a tool "lookk", ${known}`],
    [
      'a middleware of your own',
      { use: [defineMiddleware({ name: 'own', toolNames: ['sendmail_'] })] },
      `the middleware "own" is for a tool "sendmail_", ${known} Did you mean "send_mail"?`,
    ],
  ])('are refused: %s', (_, options, message) => {
    expect(made(options)).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining(message) }),
    );
  });

  it.each<[string, Partial<AgentOptions>]>([
    ['tools of other middlewares', { use: [approve(['write_file']), files({ space: memoryFiles() })] }],
    ['a tool that hands over', { use: [approve(['transfer_to_writer'])] }],
    ['a function', { use: [approve(({ tool }) => tool === 'send_mial')] }],
    ['an empty list', { use: [approve([])] }],
    ['names that are both there', { use: [approve(['send_mail', 'look'])], stopWhen: [called('look')] }],
  ])('are none: %s', (_, options) => {
    expect(made(options)).not.toThrow();
  });

  it('are told when the agent begins, where others of the list are there', async () => {
    const events = await firstValueFrom(
      run(made({ use: [approve(['look', 'pay'])] })(), { input: 'Go.' }).pipe(toArray()),
    );
    const told = events.flatMap((event) =>
      event.type === 'node-notice' && event.name === 'tools-unknown' ? [event.data] : [],
    );
    expect(told).toEqual([{ agent: 'clerk', owner: 'the middleware "approve"', tools: ['pay'] }]);
  });

  it('need not be those of helpers, which are asked about all the same', async () => {
    const model = replies(
      { calls: [{ name: 'delegate', arguments: { request: 'Look.' } }] },
      { calls: [say('x', 'look')] },
      'Seen.',
      'Done.',
    );
    const use = [approve(['write_file', 'look']), files({ space: memoryFiles() }), subAgents()];
    await expect(invoke(made({ model, use })(), 'Go.')).rejects.toMatchObject({
      code: 'RUN_INTERRUPTED',
      details: { questions: [{ question: { tool: 'look' } }] },
    });
  });

  it('are known in a team that hands over', async () => {
    const writer = agent({ name: 'writer', description: 'Writes.', model: replies('Written.') });
    const model = replies({ calls: [{ name: 'transfer_to_writer' }] });
    const lead = made({ name: 'lead', model, use: [approve(['transfer_to_writer'])] })();
    const team = handoff({ name: 'team', agents: [lead, writer] });
    await expect(invoke(team, 'Go.')).rejects.toMatchObject({
      code: 'RUN_INTERRUPTED',
      details: { questions: [{ question: { tool: 'transfer_to_writer' } }] },
    });
  });

  it('are a list of texts', () => {
    expect(() => defineMiddleware({ name: 'own', toolNames: 'look' as never })).toThrow(
      'defineMiddleware "own": "toolNames" must be a list of names of tools; received "look".',
    );
  });
});
