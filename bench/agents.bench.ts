/** What agents of code cost: a round of model and tool, events observed or not, and the stop of many: `npm run bench -- agents`. */
import { defer, lastValueFrom, NEVER, of } from 'rxjs';
import { agent } from '../src/agents/loop/agent.js';
import type { AnyAgent } from '../src/agents/loop/agent-end.js';
import { rounds } from '../src/agents/loop/stop-rules.js';
import { parallelAgents } from '../src/agents/teams/parallel-agents.js';
import { invoke, run } from '../src/compose/run.js';
import { defineTool } from '../src/compose/tools/define-tool.js';
import type { ChatDelta, ChatModel } from '../src/models/chat-model.js';
import { microsecondsPerStep, quantile, type Row } from './measure.js';

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

async function oneRound(): Promise<Row[]> {
  const echo = defineTool({
    name: 'echo',
    description: 'Says it again.',
    input: { type: 'object', properties: { text: { type: 'string' } } },
    run: ({ text }) => String(text),
  });
  const made = (most: number): AnyAgent =>
    agent({ name: 'agent', model: callingModel(), tools: [echo], stopWhen: [rounds(most)] });
  const few = made(10);
  const many = made(ROUNDS);
  const options = { maxSteps: 100_000 };
  const perRound = (one: AnyAgent, count: number): Promise<number> =>
    microsecondsPerStep(10 * count, async () => {
      for (let at = 0; at < 10; at += 1) await invoke(one, 'Go.', options);
    });
  const observed = await microsecondsPerStep(10, () => lastValueFrom(run(few, { input: 'Go.' }, options)));
  return [
    {
      name: 'round of a model and one tool, 10 rounds',
      value: await perRound(few, 10),
      unit: 'us/round',
      bar: 100,
      aim: 50,
    },
    { name: 'round of a model and one tool, 10 rounds, all events', value: observed, unit: 'us/round' },
    { name: `round of a model and one tool, ${ROUNDS} rounds`, value: await perRound(many, ROUNDS), unit: 'us/round' },
  ];
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
