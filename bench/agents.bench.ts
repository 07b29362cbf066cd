/** What agents of code cost: a round of model and tool, events observed or not, and the stop of many: `npm run bench -- agents`. */
import { defer, lastValueFrom, NEVER, of } from 'rxjs';
import { agent } from '../src/agents/loop/agent.js';
import type { AnyAgent } from '../src/agents/loop/agent-end.js';
import { rounds } from '../src/agents/loop/stop-rules.js';
import { parallelAgents } from '../src/agents/teams/parallel-agents.js';
import { invoke, run } from '../src/compose/run.js';
import { defineTool } from '../src/compose/tools/define-tool.js';
import type { ChatDelta, ChatModel } from '../src/models/chat-model.js';
import { microsecondsPerStep, quantile, type Row, warmUp } from './measure.js';

const ROUNDS = 100;
const LEVELS = 8;

/** Measures agents; takes some seconds. */
export async function benchAgents(): Promise<readonly Row[]> {
  return [...(await oneRound()), ...(await stopped())];
}

/** Calls a tool until it has been asked so often, then answers. */
function callingModel(): ChatModel {
  const call: ChatDelta = { type: 'tool-call', index: 0, id: 'c', name: 'echo', arguments: '{"text":"a"}' };
  const asks: ChatDelta[] = [call, { type: 'finish', reason: 'tool_calls' }];
  const answer: ChatDelta[] = [
    { type: 'text', text: 'Done.' },
    { type: 'finish', reason: 'stop' },
  ];
  return { chat: ({ tools = [] }) => of(...(tools.length > 0 ? asks : answer)) };
}

/**
 * A turn and its rounds, when the compiler has seen them: a round goes through code of many layers, which takes it some thousand rounds. Cases are
 * measured in turns, so that what else the machine does falls on all of them alike.
 */
async function oneRound(): Promise<Row[]> {
  const few = agentOf(10);
  const many = agentOf(ROUNDS);
  const answers = agent({ name: 'agent', model: callingModel() });
  const cases: readonly Case[] = [
    { row: { name: 'turn of an agent that answers at once', unit: 'us/turn' }, steps: 1, turn: asked(answers) },
    { row: { name: 'agent that is made, compiled and asked once', unit: 'us/turn' }, steps: 1, turn: madeAndAsked },
    { row: { name: `${ROUND}, 10 rounds`, unit: 'us/round', bar: 100, aim: 50 }, steps: 10, turn: asked(few) },
    { row: { name: `${ROUND}, 10 rounds, all events`, unit: 'us/round' }, steps: 10, turn: observed(few) },
    { row: { name: `${ROUND}, ${ROUNDS} rounds`, unit: 'us/round' }, steps: ROUNDS, turn: asked(many) },
  ];
  for (const { turn } of cases) await warmUp(turn, WARM_UP_MS);
  const costs = cases.map((): number[] => []);
  for (let round = 0; round < 7; round += 1) {
    for (const [at, { steps, turn }] of cases.entries()) {
      const turns = Math.ceil(500 / steps);
      const repeated = async () => {
        for (let done = 0; done < turns; done += 1) await turn();
      };
      costs[at]?.push(await microsecondsPerStep(turns * steps, repeated, { rounds: 1, warmUpMs: 0 }));
    }
  }
  return cases.map(({ row }, at) => ({ ...row, value: quantile(costs[at] ?? [], 0.5) }));
}

const ROUND = 'round of a model and one tool';
const WARM_UP_MS = 2_000;

/** What is measured: a turn of so many steps. */
interface Case {
  readonly row: Omit<Row, 'value'>;
  readonly steps: number;
  readonly turn: () => Promise<unknown>;
}

const OPTIONS = { maxSteps: 100_000 };

function agentOf(most: number): AnyAgent {
  const echo = defineTool({
    name: 'echo',
    description: 'Says it again.',
    input: { type: 'object', properties: { text: { type: 'string' } } },
    run: ({ text }) => String(text),
  });
  return agent({ name: 'agent', model: callingModel(), tools: [echo], stopWhen: [rounds(most)] });
}

function asked(one: AnyAgent) {
  return (): Promise<unknown> => invoke(one, 'Go.', OPTIONS);
}

function observed(one: AnyAgent) {
  return (): Promise<unknown> => lastValueFrom(run(one, { input: 'Go.' }, OPTIONS));
}

function madeAndAsked(): Promise<unknown> {
  return invoke(agentOf(1), 'Go.', OPTIONS);
}

/** 8 agents at work in each of 8 levels. */
async function stopped(): Promise<Row[]> {
  let atWork = 0;
  const model: ChatModel = {
    chat: () =>
      defer(() => {
        atWork += 1;
        return NEVER;
      }),
  };
  const level = (depth: number): AnyAgent => {
    const agents = Array.from({ length: 8 }, (_, at) => agent({ name: `a${at}`, model, limits: { totalMs: 60_000 } }));
    if (depth < LEVELS) agents.push(level(depth + 1) as never);
    return parallelAgents({ name: `level${depth}`, agents });
  };
  const tree = level(1);
  const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const took: number[] = [];
  let left = 0;
  for (let round = 0; round < 20; round += 1) {
    atWork = 0;
    const subscription = run(tree, { input: 'Go.' }).subscribe();
    while (atWork < 8 * LEVELS) await new Promise<void>((resolve) => setImmediate(resolve));
    const startedAt = performance.now();
    subscription.unsubscribe();
    took.push(performance.now() - startedAt);
    // Read in the same tick: whatever ends later would still be here.
    left = Math.max(left, timers() - before);
  }
  return [
    { name: '64 agents in 8 levels stopped in one tick, median of 20', value: quantile(took, 0.5), unit: 'ms' },
    { name: 'the same, the slowest', value: Math.max(...took), unit: 'ms' },
    { name: 'timers left in that tick', value: left, unit: 'timers', bar: 0 },
  ];
}
