/**
 * The loop of agents in code as nodes run it: one graph for all of them, drawn once, whose hooks ask the agent of the node (`node-agent.ts`). Its tools are
 * known only when a node is at work, so they are none of the graph's.
 */
import { agentGraph } from './loop/agent-graph.js';
import { readAgentOptions } from './loop/agent-options.js';
import { loopAt, newestAnswer } from './loop/loop-state.js';
import { defineMiddleware } from './loop/middleware.js';
import type { NodeAgent } from './node-agent.js';

/** The key under which the agent of a node is among the services of its loop. */
export const NODE_AGENT: unique symbol = Symbol('node-agent');

const nodeAgent = defineMiddleware({
  name: 'node',
  beforeAgent: (_, view) => agentAt(view).messages,
  wrapModel: ({ messages }, _, view) => agentAt(view).ask(messages),
  // The stream of events ends with the question, and its answer comes with another run.
  afterModel: ({ message }, view) =>
    agentAt(view).review(message, view) ? view.interrupt({ kind: 'approval' }) : undefined,
  afterTools: (results, view) => {
    agentAt(view).take(results, view);
    return undefined;
  },
});

/** A step that works for the agent under {@link NODE_AGENT}; it gives nothing, since the agent tells its events itself. */
export const nodeLoop = agentGraph(
  readAgentOptions({ name: 'agent', use: [nodeAgent], stopWhen: [(view) => agentAt(view).spent(view)] }),
  {},
  {
    last: () => null,
    callTools: (calls, at) => agentAt(at).call(calls, newestAnswer(loopAt(at).value)),
  },
);

function agentAt({ services }: { readonly services: unknown }): NodeAgent {
  return (services as { readonly [NODE_AGENT]: NodeAgent })[NODE_AGENT];
}
