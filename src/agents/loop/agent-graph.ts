/**
 * The loop of a model and its tools as a graph of steps, so that each of them is stored, resumed, observed and drawn like any other.
 *
 * ```text
 *                                  ┌─────────────────────────────────────────────┐
 * start ──> begin ──> listen ──> model ──> review ──┬──> tools ──┐               │
 *                       │ ▲                         ├──> agents ─┴─> gather ──┐  │
 *                       │ └─────────────────────────┼───────────────┴─────────┼──┘  (another round)
 *                       └───────────────────────────┴──> answer <─────────────┘
 *                                                          └──> end
 * ```
 *
 * `listen` is the safe point before a round: inputs that came meanwhile join there, and stop rules are asked. Calls of agents are bodies of the
 * graph, not runs inside a tool.
 */
import { branch } from '../../compose/branch.js';
import { graph } from '../../compose/graph.js';
import { map } from '../../compose/map.js';
import type { AnyStep, Step } from '../../compose/step.js';
import type { ToolMessage } from '../../models/messages.js';
import { AGENT, AGENT_TOOL, type AgentEnd, type AgentShape, isAgentAsTool } from './agent-end.js';
import { type AgentCall, type AgentInGraph, type Ending, routeTo, type Verdict } from './agent-in-graph.js';
import type { AgentSetup } from './agent-options.js';
import { answerStep } from './answer-step.js';
import { beginStep } from './begin-step.js';
import { agentCalls, callToolsStep, gatherStep, routesAfter } from './call-steps.js';
import { handoffTools } from './handoff-tool.js';
import { listenStep } from './listen-step.js';
import { Loop } from './loop-state.js';
import { modelStep } from './model-step.js';
import { reviewStep } from './review-step.js';

/** Draws the graph of an agent. `last` makes its result of how it ended. */
export function agentGraph<O>(setup: AgentSetup, shape: AgentShape, last: (end: AgentEnd) => O): Step<unknown, O> {
  const all = [...setup.tools, ...setup.brought];
  const agents = all.filter(isAgentAsTool);
  const inGraph: AgentInGraph = {
    setup,
    tools: all.filter((tool) => !isAgentAsTool(tool)),
    agents,
    handoffs: handoffTools(setup.name, shape.handoffs ?? []),
    endsOnFailure: shape.endsOnFailure === true,
  };
  return graph<unknown, O>(
    setup.name,
    (g) => {
      const begin = g.node('begin', beginStep(inGraph));
      const listen = g.node('listen', listenStep(inGraph));
      const model = g.node('model', modelStep(inGraph));
      const review = g.node('review', reviewStep(inGraph));
      const gather = g.node('gather', gatherStep(inGraph), { merge: (results) => Object.assign({}, ...results) });
      const answer = g.node<Ending, Verdict>('answer', answerStep(inGraph));
      const result = g.node('result', (verdict: Verdict) => last((verdict as { readonly end: AgentEnd }).end));
      g.edge(g.start, begin);
      g.edge(begin, listen);
      g.branch(listen, { model, answer }, ({ next }) => next);
      g.edge(model, review);
      const tools = g.node('tools', callToolsStep(inGraph), {
        after: (messages: ToolMessage[]) => ({ tools: messages }),
      });
      g.edge(tools, gather);
      const routes = { listen, answer, gather, tools };
      if (agents.length === 0) {
        g.branch(review, routes, (_, at) => routesAfter(inGraph, at) as readonly (keyof typeof routes)[]);
      } else {
        const called = g.node('agents', calledAgents(inGraph), {
          before: (_: unknown, at) => agentCalls(inGraph, at),
          after: (ends: AgentEnd[]) => ({ agents: ends }),
        });
        g.edge(called, gather);
        g.branch(review, { ...routes, agents: called }, (_, at) => routesAfter(inGraph, at));
      }
      g.branch(gather, { listen, answer }, ({ next }) => next);
      g.branch(answer, { listen, result }, (verdict) => ('end' in verdict ? 'result' : 'listen'));
      g.edge(result, g.end);
    },
    { state: Loop },
  );
}

/** The agents that calls are made of, each call a pass of its own. */
function calledAgents(inGraph: AgentInGraph): Step<readonly AgentCall[], AgentEnd[]> {
  const routes = Object.fromEntries(
    inGraph.agents.flatMap((tool) =>
      tool[AGENT_TOOL].agents.map((called): [string, AnyStep] => [
        routeTo(inGraph, tool, called.name),
        called[AGENT].ended({ endsOnFailure: true }),
      ]),
    ),
  );
  const one = branch(({ name }: AgentCall) => name, routes as Readonly<Record<string, Step<AgentCall, AgentEnd>>>);
  return map(one, { concurrency: inGraph.setup.concurrency });
}
