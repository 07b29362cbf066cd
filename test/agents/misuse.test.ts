/** What is wrong when an agent, a team or a runner is made or run: each mistake has a code, and a message that says what to do. */
import { lastValueFrom, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import * as agents from '../../src/entries/agents.js';
import { defineTool, invoke } from '../../src/index.js';
import { replies } from './loop/support.js';

const { agent, agentFrom, createRunner, defineMiddleware } = agents;
const model = replies('ok');
const look = defineTool({ name: 'look', description: 'Looks.', run: () => 'seen' });
const guide = agent({ name: 'guide', model });
const hand = agentFrom({ name: 'hand', description: 'Helps.', run: () => 'done' });

/** An agent with these options. */
const withOptions = (options: object) => agent({ name: 'clerk', model, ...options } as never);
const runWith = (options: object) => invoke(withOptions(options) as never, 'go');
const turn = (options: object) => lastValueFrom(createRunner({ agent: guide }).run('go', { session: 's', ...options }));

const boom = () => {
  throw new TypeError('boom');
};

describe('a mistake with agents', () => {
  it.each<[string, () => unknown, string, string]>([
    [
      'tools that are no list',
      () => withOptions({ tools: { look } }),
      'OPTION_INVALID',
      '"tools" must be a list of tools',
    ],
    [
      'an agent among tools',
      () => withOptions({ tools: [guide] }),
      'OPTION_INVALID',
      'Make a tool of it: agentTool(guide).',
    ],
    [
      'failover that is no list',
      () => withOptions({ failover: model }),
      'OPTION_INVALID',
      '"failover" must be a list of models',
    ],
    [
      'settings that are none',
      () => withOptions({ settings: 1 }),
      'OPTION_INVALID',
      'such as { temperature: 0 }; received 1.',
    ],
    [
      'a misspelt setting',
      () => withOptions({ settings: { temprature: 1 } }),
      'OPTION_INVALID',
      'Did you mean "temperature"?',
    ],
    [
      'a description that is no text',
      () => withOptions({ description: 5 }),
      'OPTION_INVALID',
      '"description" must be text; received 5.',
    ],
    [
      'a key that is no text',
      () => withOptions({ outputKey: 5 }),
      'OPTION_INVALID',
      '"outputKey" must be a name that is not empty; received 5.',
    ],
    [
      'a middleware that brings no list',
      () => withOptions({ use: [defineMiddleware({ name: 'x', tools: () => 'no' as never })] }),
      'OPTION_INVALID',
      'The middleware "x": "tools" must be a function that gives a list of tools; received "no".',
    ],
    [
      'a flag that is none',
      () => defineMiddleware({ name: 'x', holdsForHelpers: 1 as never }),
      'OPTION_INVALID',
      '"holdsForHelpers" must be true or false; received 1.',
    ],
    [
      'no question',
      () => invoke(guide, undefined as never),
      'INPUT_INVALID',
      '"guide" needs text, a message of a user or a list of messages; received undefined.',
    ],
    [
      'no question of a team',
      () => invoke(agents.sequentialAgents({ name: 'team', agents: [hand] }), 7 as never),
      'INPUT_INVALID',
      '"team" needs text',
    ],
    [
      'a message without content',
      () => invoke(guide, [{ role: 'user' }] as never),
      'INPUT_INVALID',
      '"guide" needs text',
    ],
    [
      'a helper that is none',
      () => agents.deepAgent({ name: 'd', model, agents: [hand, look as never] }),
      'OPTION_INVALID',
      '"agents[1]" must be what agent(…), agentFrom(…) or a team gives; received an object.',
    ],
    [
      'an option of a deep agent that there is not',
      () => agents.deepAgent({ name: 'd', model, agent: [hand] } as never),
      'OPTION_INVALID',
      'deepAgent: there is no option "agent". Did you mean "agents"?',
    ],
    [
      'tools of a host, which has its specialists',
      () => agents.hostAgents({ name: 'h', model, agents: [hand], tools: [] } as never),
      'OPTION_INVALID',
      'hostAgents: there is no option "tools".',
    ],
    [
      'a plan without an executor',
      () => agents.planExecute({ name: 'p', model } as never),
      'OPTION_INVALID',
      'planExecute "p": "executor" must be what agent(…), agentFrom(…) or a team gives; received undefined.',
    ],
    [
      'a word that is a promise',
      () => invoke(agents.loopAgents({ name: 't', agents: [hand], until: (async () => true) as never }), 'go'),
      'NODE_PROTOCOL',
      '"until" of loopAgents "t" must give true or false at once; received an object.',
    ],
    [
      'answers that become no text',
      () => invoke(agents.parallelAgents({ name: 't', agents: [hand], combine: () => 5 as never }), 'go'),
      'NODE_PROTOCOL',
      '"combine" of parallelAgents "t" must give text; received 5.',
    ],
    [
      'a file that is no text',
      () => runWith({ use: [agents.agentsFile({ read: () => 5 as never })] }),
      'NODE_PROTOCOL',
      '"read" of agentsFile must give text, or nothing; received 5.',
    ],
    [
      'a hook that throws',
      () => runWith({ use: [defineMiddleware({ name: 'x', afterModel: boom })] }),
      'NODE_FAILED',
      'The hook "afterModel" of the middleware "x" failed: boom',
    ],
    [
      'a hook that throws later',
      () => runWith({ use: [defineMiddleware({ name: 'x', beforeModel: async () => boom() })] }),
      'NODE_FAILED',
      'The hook "beforeModel" of the middleware "x" failed: boom',
    ],
    [
      'a hook around the model that throws',
      () => runWith({ use: [defineMiddleware({ name: 'x', wrapModel: boom })] }),
      'NODE_FAILED',
      'The hook "wrapModel" of the middleware "x" failed: boom',
    ],
    [
      'an input that is none',
      () => turn({ input$: of(5) }),
      'INPUT_INVALID',
      'An input of "input$" must be text, or { content, id?, when?, to? }',
    ],
    [
      'an input for a time that is none',
      () => turn({ input$: of({ content: 'x', when: 'soon' }) }),
      'INPUT_INVALID',
      'received one with "when": "soon".',
    ],
    [
      'a stop of a mode that is none',
      () => turn({ cancel$: of({ mode: 'later' }) }),
      'OPTION_INVALID',
      'must be { mode, withinMs? } with a mode of "now", "after-model", "after-tools", "after-round"; received "later".',
    ],
    [
      'a stop that is none',
      () => turn({ cancel$: of(true) }),
      'OPTION_INVALID',
      'A value of "cancel$" must be { mode, withinMs? }',
    ],
    [
      'a stop within no time',
      () => turn({ cancel$: of({ mode: 'now', withinMs: 'soon' }) }),
      'OPTION_INVALID',
      'received "withinMs": "soon".',
    ],
    [
      'an end of a conversation that is none',
      () => lastValueFrom(createRunner({ agent: guide }).live(of('x'), { stop$: of({ mode: 'later' as never }) })),
      'OPTION_INVALID',
      'A value of "stop$" must be { mode, withinMs? } with a mode of "after-turn"',
    ],
  ])('says what to do: %s', async (_, make, code, message) => {
    await expect(Promise.resolve().then(make)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  it('is none: an input without an id', async () => {
    const events: string[] = [];
    const turn$ = createRunner({ agent: guide }).run('go', { session: 's', input$: of({ content: 'And you?' }) });
    await turn$.forEach(({ type }) => void events.push(type));
    expect(events).toContain('input-delivered');
  });
});
