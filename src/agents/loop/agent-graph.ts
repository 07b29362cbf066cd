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
 * Where nothing can follow the text of a round, `model` leads to `say` as well, which gives the text on as it comes, and from there to the end.
 * `listen` is the safe point before a round: inputs that came meanwhile join there, and stop rules are asked. Calls of agents are bodies of the
 * graph, not runs inside a tool.
 */
import { branch } from '../../compose/branch.js';
import { type GraphBuilder, graph } from '../../compose/graph.js';
import type { Source, Target } from '../../compose/handles.js';
import { jsonSchemaOf } from '../../compose/json-schema.js';
import { map } from '../../compose/map.js';
import type { AnyStep, Step } from '../../compose/step.js';
import { type StepTool, toolDefinition } from '../../compose/tools/step-tool.js';
import { isJsonObject } from '../../json.js';
import type { ToolDefinition } from '../../models/chat-model.js';
import type { ToolMessage } from '../../models/messages.js';
import { AGENT, AGENT_TOOL, type AgentEnd, type AgentShape, isAgentAsTool } from './agent-end.js';
import {
  type AgentCall,
  type AgentInGraph,
  type AgentWithWork,
  type CallTools,
  type Ending,
  hasWork,
  routeTo,
  type Verdict,
} from './agent-in-graph.js';
import type { AgentSetup } from './agent-options.js';
import { answerStep } from './answer-step.js';
import {
  Background,
  type BackgroundRules,
  backgroundRules,
  checkBackground,
  offeredAtOnce,
} from './background-state.js';
import { beginStep } from './begin-step.js';
import { agentCalls, callToolsStep, gatherStep, routesAfter, sortCalls } from './call-steps.js';
import { handoffTools } from './handoff-tool.js';
import { listenStep } from './listen-step.js';
import { Loop } from './loop-state.js';
import { modelStep } from './model-step.js';
import { reviewStep } from './review-step.js';
import { sayOrReview, sayStep } from './say-step.js';
import { holdStep, restStep, workCalls, workStep } from './work-steps.js';

/** How the graph of an agent is drawn. */
export interface Drawing<O> {
  /** Makes the result of how it ended. */
  readonly last: (end: AgentEnd) => O;
  /** Text of an answer may be given on as the model says it, where it is the answer for certain. @default false */
  readonly isLive?: boolean;
  /** Makes the calls of answers in place of the tools of the agent. @default they are made of its tools */
  readonly callTools?: CallTools;
}

/** Draws the graph of an agent. */
export function agentGraph<O>(
  setup: AgentSetup,
  shape: AgentShape,
  { last, isLive = false, callTools }: Drawing<O>,
): Step<unknown, O> {
  const all = [...setup.tools, ...setup.brought];
  const agents = all.filter(isAgentAsTool);
  const tools = all.filter((tool) => !isAgentAsTool(tool));
  const handoffs = handoffTools(setup, shape.handoffs ?? []);
  const background = backgroundRules(setup.use);
  const inGraph: AgentInGraph = {
    setup,
    tools,
    agents,
    handoffs,
    offered: offeredOf([...tools, ...agents, ...handoffs.values()], background),
    settings: settingsOf(setup),
    endsOnFailure: shape.endsOnFailure === true,
    background,
    isLive,
    callTools,
  };
  if (hasWork(inGraph)) checkBackground(`agent "${setup.name}"`, inGraph.background, all);
  return graph<unknown, O>(
    setup.name,
    (g) => {
      const begin = g.node('begin', beginStep(inGraph));
      const listen = g.node('listen', listenStep(inGraph));
      const model = g.node('model', modelStep(inGraph));
      const review = g.node('review', reviewStep(inGraph));
      const gather = g.node('gather', gatherStep(inGraph), { merge: (results) => Object.assign({}, ...results) });
      const answer = g.node<Ending, Verdict>('answer', answerStep(inGraph));
      const result = g.node('result', (verdict: unknown) => last((verdict as { readonly end: AgentEnd }).end), {
        // Beside the verdict comes what is left of work in the background, which nothing needs.
        merge: (values) => values.find((value) => isJsonObject(value) && 'end' in value),
      });
      g.edge(g.start, begin);
      g.edge(begin, listen);
      g.branch(listen, { model, answer }, ({ next }) => next);
      if (isLive) {
        const say = g.node('say', sayStep(inGraph));
        g.streamBranch(model, { say, review }, sayOrReview(setup));
        g.edge(say as Source<unknown> as Source<O>, g.end);
      } else g.edge(model, review);
      const tools = g.node('tools', callToolsStep(inGraph), {
        after: (messages: ToolMessage[]) => ({ tools: messages }),
      });
      g.edge(tools, gather);
      const routes: Record<string, Target<Ending>> = { listen, answer, gather, tools };
      if (agents.some((tool) => inGraph.background?.isFor(tool) !== true)) {
        const called = g.node('agents', calledAgents(inGraph), {
          before: (_: unknown, at) => agentCalls(inGraph, at),
          after: (ends: AgentEnd[]) => ({ agents: ends }),
        });
        g.edge(called, gather);
        routes.agents = called;
      }
      const further: Record<string, Target<unknown>> = { listen, result: result as Target<unknown> };
      if (hasWork(inGraph)) {
        const { work, hold, rest } = workNodes(g, inGraph);
        g.edge(hold, gather);
        g.edge(work, result);
        g.edge(rest, listen);
        Object.assign(routes, { work, hold });
        further.rest = rest;
      }
      g.branch(review, routes, (_, at) => routesAfter(inGraph, at));
      g.branch(gather, { listen, answer }, ({ next }) => next);
      g.branch<Verdict, typeof further>(answer, further, nextOf);
      g.edge(result, g.end);
    },
    { state: hasWork(inGraph) ? [Loop, Background] : Loop },
  );
}

function nextOf(verdict: Verdict): string {
  return 'end' in verdict ? 'result' : 'rest' in verdict ? 'rest' : 'listen';
}

/** What an agent has beside its rounds: its work in the background, and where it waits for that. */
function workNodes(g: Pick<GraphBuilder<unknown, unknown>, 'node'>, inGraph: AgentWithWork) {
  const work = g.node('work', workStep(inGraph), {
    before: (_: unknown, at) => workCalls(inGraph, sortCalls(inGraph, at).works, at),
  });
  const hold = g.node(
    'hold',
    holdStep(inGraph, (at) => sortCalls(inGraph, at)),
    { after: (messages: ToolMessage[]) => ({ held: messages }) },
  );
  return { work, hold, rest: g.node('rest', restStep(inGraph)) };
}

function offeredOf(tools: readonly StepTool[], background: BackgroundRules | undefined): readonly ToolDefinition[] {
  return tools.map((tool) => {
    const told = toolDefinition(tool);
    return background?.isFor(tool) === true ? offeredAtOnce(told, background) : told;
  });
}

function settingsOf({ settings, output }: AgentSetup): AgentSetup['settings'] {
  const schema = output === undefined ? undefined : jsonSchemaOf(output);
  return schema === undefined ? settings : { jsonSchema: { name: 'answer', schema }, ...settings };
}

/** The agents that calls are made of, each call a pass of its own. */
function calledAgents(inGraph: AgentInGraph): Step<readonly AgentCall[], AgentEnd[]> {
  const routes = Object.fromEntries(
    inGraph.agents
      .filter((tool) => inGraph.background?.isFor(tool) !== true)
      .flatMap((tool) =>
        tool[AGENT_TOOL].agents.map((called): [string, AnyStep] => [
          routeTo(inGraph, tool, called.name),
          called[AGENT].ended({ endsOnFailure: true }),
        ]),
      ),
  );
  const one = branch(({ name }: AgentCall) => name, routes as Readonly<Record<string, Step<AgentCall, AgentEnd>>>);
  return map(one, { concurrency: inGraph.setup.concurrency });
}
