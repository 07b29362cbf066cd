/** The calls of an answer: which way they go, how tools are called, and how results come together. */
import { defer } from 'rxjs';
import { isThenable } from '../../compose/engine/later.js';
import { Interrupt } from '../../compose/interrupt.js';
import type { Step, StepActivation } from '../../compose/step.js';
import { step } from '../../compose/steps.js';
import { EngineError } from '../../errors.js';
import { concatMessageLists } from '../../models/concat-messages.js';
import type { ToolCall } from '../../models/content-parts.js';
import { type ToolMessage, toolMessage } from '../../models/messages.js';
import { goOnWith } from '../../operators/go-on-with.js';
import { readArguments } from '../../tools/read-arguments.js';
import { AGENT_TOOL, type AgentAsTool, type AgentEnd } from './agent-end.js';
import { type AgentCall, type AgentInGraph, type Ending, routeTo } from './agent-in-graph.js';
import { AGENT_TEXTS, type AgentTexts } from './agent-texts.js';
import { isUnfinished } from './ask-model.js';
import { WAIT_TOOL, workArguments } from './background-state.js';
import { callsOfTools, plainCalls } from './call-tools.js';
import { spokenBy } from './heard-by.js';
import { placeOf } from './listen-step.js';
import { liveAt } from './live-control.js';
import { loopAt, newestAnswer } from './loop-state.js';
import type { RoundAnswer } from './middleware.js';
import { runHooks } from './run-hooks.js';
import type { HeldCalls } from './work-steps.js';

/** The calls of the newest answer, by what makes them. */
interface SortedCalls extends HeldCalls {
  readonly all: readonly ToolCall[];
  readonly tools: readonly ToolCall[];
  readonly agents: readonly { readonly call: ToolCall; readonly tool: AgentAsTool }[];
  /** The first call that hands over. */
  readonly handoff: { readonly call: ToolCall; readonly to: string } | undefined;
}

/** Sorts the calls of the newest answer; those that were answered already are made by nothing. */
export function sortCalls({ agents, handoffs, tools, background }: AgentInGraph, at: StepActivation): SortedCalls {
  const loop = loopAt(at).value;
  const { toolCalls: all = [] } = newestAnswer(loop);
  if (agents.length === 0 && handoffs.size === 0 && loop.answered.length === 0 && background === undefined) {
    return { all, tools: all, agents: [], works: [], waits: [], handoff: undefined };
  }
  const answered = new Set(loop.answered.map(({ toolCallId }) => toolCallId));
  const open = all.filter(({ id }) => !answered.has(id));
  const targets = new Map([...handoffs].map(([to, { name }]) => [name, to]));
  const over = open.find(({ name }) => targets.has(name));
  const agentOf = (call: ToolCall): AgentAsTool | undefined => agents.find(({ name }) => name === call.name);
  const isWork = ({ name }: ToolCall): boolean =>
    background !== undefined && [...tools, ...agents].some((tool) => tool.name === name && background.isFor(tool));
  const isWait = ({ name }: ToolCall): boolean => background !== undefined && name === WAIT_TOOL;
  const others = open.filter((call) => !isWork(call) && !isWait(call));
  return {
    all,
    tools: others.filter((call) => agentOf(call) === undefined && !targets.has(call.name)),
    agents: others.flatMap((call) => {
      const tool = agentOf(call);
      return tool === undefined ? [] : [{ call, tool }];
    }),
    works: open.filter(isWork),
    waits: open.filter(isWait),
    handoff: over === undefined ? undefined : { call: over, to: targets.get(over.name) as string },
  };
}

/** Where an answer leads: to tools, agents, or both; to the next round; or out of the loop. */
export function routesAfter(agent: AgentInGraph, at: StepActivation): readonly Route[] {
  const message = newestAnswer(loopAt(at).value);
  if (isUnfinished(message)) return ['listen'];
  const { all, tools, agents, handoff, works, waits } = sortCalls(agent, at);
  if (all.length === 0 || handoff !== undefined) return ['answer'];
  const routes: Route[] = [];
  if (works.length > 0) routes.push('work');
  if (works.length + waits.length > 0) routes.push('hold');
  if (tools.length > 0) routes.push('tools');
  if (agents.length > 0) routes.push('agents');
  return routes.length === 0 ? ['gather'] : routes;
}

type Route = 'listen' | 'answer' | 'gather' | 'tools' | 'agents' | 'work' | 'hold';

/** Calls the tools of an answer, side by side. What fails, and a tool that is not there, is text for the model. */
export function callToolsStep(agent: AgentInGraph): Step<unknown, ToolMessage[]> {
  const plain = plainCalls(agent);
  return step<unknown, ToolMessage[]>(
    'tools',
    (_, at) =>
      defer(() => {
        const caller = plain ?? callsOfTools(agent, at);
        const startedAt = at.now();
        return caller(sortCalls(agent, at).tools, at).pipe(
          goOnWith((end) => {
            if (end !== undefined) throw end.error;
            const tookMs = at.now() - startedAt;
            const loop = loopAt(at);
            if (tookMs !== 0) loop.update({ elapsedMs: loop.value.elapsedMs + tookMs });
            return undefined;
          }),
        );
      }),
    { kind: 'toolsNode', mayAsk: true, chunks: (lists) => concatMessageLists(lists) },
  );
}

/** The calls of agents, as they start. */
export function agentCalls(agent: AgentInGraph, at: StepActivation): AgentCall[] {
  const { messages } = loopAt(at).value;
  const before = spokenBy(agent.setup.name, messages.slice(0, -1));
  return sortCalls(agent, at).agents.map(({ call, tool }) => {
    const { agents: callable, choose, messagesOf } = tool[AGENT_TOOL];
    const args = readArguments(tool.name, call.arguments, { repair: true });
    const chosen = choose?.(args) ?? callable[0]?.name ?? '';
    return { name: routeTo(agent, tool, chosen), messages: messagesOf(args, before) };
  });
}

/** An answer with results for calls of agents whose arguments cannot be used: their graphs do not begin. */
export function withRefusedCalls(
  { agents, background }: AgentInGraph,
  answer: RoundAnswer,
): RoundAnswer | PromiseLike<RoundAnswer> {
  const { message, results } = answer;
  const answered = new Set(results.map(({ toolCallId }) => toolCallId));
  const open = (message.toolCalls ?? []).filter(({ id }) => !answered.has(id));
  const refusals = open.flatMap((call) => {
    const tool = agents.find(({ name }) => name === call.name);
    return tool === undefined ? [] : [refusalOf(tool, call, background?.isFor(tool) === true)];
  });
  const take = (all: readonly (ToolMessage | undefined)[]): RoundAnswer => {
    const refused = all.filter((one) => one !== undefined);
    return refused.length === 0 ? answer : { message, results: [...results, ...refused] };
  };
  if (refusals.some(isThenable)) return Promise.all(refusals).then(take);
  return take(refusals as readonly (ToolMessage | undefined)[]);
}

type Refusal = ToolMessage | undefined;

function refusalOf(tool: AgentAsTool, call: ToolCall, isWork: boolean): Refusal | PromiseLike<Refusal> {
  const { id, name, arguments: text } = call;
  const refused = (thrown: unknown): ToolMessage => {
    if (!EngineError.is(thrown) || thrown.code !== 'TOOL_ARGUMENTS') throw thrown;
    return toolMessage(thrown.message, id, { name, isError: true });
  };
  try {
    const checked = tool[AGENT_TOOL].check(isWork ? workArguments(call) : readArguments(name, text, { repair: true }));
    return isThenable(checked) ? checked.then(() => undefined, refused) : undefined;
  } catch (error) {
    return refused(error);
  }
}

/** What came of the calls; both are there when both ways were taken. */
interface Results {
  readonly tools?: readonly ToolMessage[];
  readonly agents?: readonly AgentEnd[];
  /** Of calls that may be moved to the background, and of those that wait. */
  readonly held?: readonly ToolMessage[];
}

/** Where an agent goes with its results. */
interface Gathered extends Ending {
  readonly next: 'listen' | 'answer';
}

/** Puts the results into the conversation, in the order of the calls. */
export function gatherStep(agent: AgentInGraph): Step<unknown, Gathered> {
  const { setup } = agent;
  return step<unknown, Gathered>('gather', (results, at) => {
    const take = (messages: readonly ToolMessage[] | Interrupt): Gathered | Interrupt => {
      if (messages instanceof Interrupt) return messages;
      loopAt(at).append('messages', ...messages);
      const direct = directIn(agent, messages);
      const live = liveAt(at);
      live?.reached(placeOf(setup, at), 'tools');
      if (direct === undefined) live?.reached(placeOf(setup, at), 'round');
      return direct === undefined ? { next: 'listen' } : { next: 'answer', direct };
    };
    const ordered = inOrder(agent, results as Results, at);
    const messages = runHooks(setup, 'afterTools', ordered, at);
    return (isThenable(messages) ? messages.then(take) : take(messages)) as Gathered;
  });
}

function inOrder(
  agent: AgentInGraph,
  { tools = [], agents = [], held = [] }: Results,
  at: StepActivation,
): readonly ToolMessage[] {
  const { answered } = loopAt(at).value;
  const { all, agents: called } = sortCalls(agent, at);
  if (answered.length === 0 && called.length === 0 && all.every(({ id }, index) => tools[index]?.toolCallId === id)) {
    return tools;
  }
  const texts = AGENT_TEXTS[agent.setup.language];
  const byAgents = new Map(called.map(({ call }, index) => [call.id, resultOf(call, agents[index], texts)]));
  const byTools = new Map([...tools, ...held].map((message) => [message.toolCallId, message]));
  const given = new Map(answered.map((message) => [message.toolCallId, message]));
  return all.map(
    (call) => given.get(call.id) ?? byTools.get(call.id) ?? byAgents.get(call.id) ?? resultOf(call, undefined, texts),
  );
}

function resultOf({ id, name }: ToolCall, end: AgentEnd | undefined, { noResult }: AgentTexts): ToolMessage {
  if (end?.type === 'answered') return toolMessage(end.text, id, { name });
  const why = end?.type === 'failed' ? end.error.message : noResult;
  return toolMessage(why, id, { name, isError: true });
}

/** The results that are the answer, one below the other; undefined without any. */
function directIn(agent: AgentInGraph, messages: readonly ToolMessage[]): string | undefined {
  const direct = messages.filter((message) => isDirect(agent, message));
  return direct.length === 0 ? undefined : direct.map(({ content }) => content).join('\n\n');
}

function isDirect({ setup }: AgentInGraph, { name, extra, isError }: ToolMessage): boolean {
  return (
    isError !== true && (extra?.returnDirectly === true || (name !== undefined && setup.returnDirectly.includes(name)))
  );
}

/** What a tool returns so that its result is the answer of the agent that called it. */
export function finalAnswer(text: string): {
  readonly text: string;
  readonly extra: { readonly returnDirectly: true };
} {
  return { text, extra: { returnDirectly: true } };
}
