/** A team is one run: of its events, of its trace, at every depth. */
import { describe, expect, it } from 'vitest';
import { agent, agentTool, parallelAgents, subAgents, supervisor } from '../../../src/entries/agents.js';
import { invoke, run } from '../../../src/index.js';
import { collectEvents } from '../../../src/testing/collect-events.js';
import { replies } from '../loop/support.js';

const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** A lead that hands over to two agents side by side, one of which calls one as a tool, and another one by `subAgents`. */
function team() {
  const models = {
    lead: replies({ calls: [{ name: 'transfer_to_both' }] }, 'Done.'),
    a: replies({ calls: [{ name: 'deep', arguments: { request: 'x' } }] }, 'A.'),
    b: replies({ calls: [{ name: 'delegate', arguments: { agent: 'far', request: 'x' } }] }, 'B.'),
    deep: replies('Deep.'),
    far: replies('Far.'),
  };
  const deep = agent({ name: 'deep', description: 'Digs.', model: models.deep });
  const far = agent({ name: 'far', description: 'Goes.', model: models.far });
  const a = agent({ name: 'a', model: models.a, tools: [agentTool(deep)] });
  const b = agent({ name: 'b', model: models.b, use: [subAgents({ agents: [far], general: false })] });
  const both = parallelAgents({ name: 'both', description: 'Both.', agents: [a, b] });
  const lead = agent({ name: 'lead', model: models.lead });
  return { models, made: supervisor({ name: 'team', lead, agents: [both] }) };
}

describe('the agents of a team', () => {
  it('are named by the paths of their events, which all belong to one run', async () => {
    const events = await collectEvents(run(team().made, { input: 'Go.' }));
    expect(new Set(events.map((event) => event.run)).size).toBe(1);
    const models = events.flatMap((event) =>
      event.type === 'node-started' && event.node.endsWith('/model') ? [event.node] : [],
    );
    expect(models.sort()).toEqual([
      'both/a/agents/deep/model',
      'both/a/model',
      'both/a/model',
      'both/b/agents/far/model',
      'both/b/model',
      'both/b/model',
      'lead/model',
      'lead/model',
    ]);
  });

  it('are under the trace of their caller, each model called with it', async () => {
    const { models, made } = team();
    const tokens = new Set<string>();
    const trace = {
      contextOf: (token: string, call?: string) => {
        tokens.add(`${token} ${call}`);
        return { traceparent: PARENT };
      },
    };
    await invoke(made, 'Go.', { services: { trace } });
    const requests = Object.values(models).flatMap((model) => model.requests);
    expect(requests.map(({ headers }) => headers?.traceparent)).toEqual(Array.from({ length: 8 }, () => PARENT));
    // Each call has a place of its own in it.
    expect(tokens.size).toBe(8);
  });
});
