/** Mastra's workflows as its guide says: steps with schemas, committed once, streamed; every event of the stream is read. */
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { z } from 'zod';

const anything = z.any();
const step = (id, execute = async () => ({})) =>
  createStep({ id, inputSchema: anything, outputSchema: anything, execute });
const workflow = (id) => createWorkflow({ id, inputSchema: anything, outputSchema: anything });
const steps = (count, prefix = 'n') => Array.from({ length: count }, (_, at) => step(`${prefix}${at}`));

const WORKFLOWS = {
  chain: (count) => steps(count).reduce((so, next) => so.then(next), workflow('chain')),
  fan: (count) => workflow('fan').then(step('s')).parallel(steps(count)).then(step('z')),
  // It has no edges between single steps: each layer waits for the whole one before.
  layers: (side) =>
    Array.from({ length: side }, (_, at) => steps(side, `l${at}n`)).reduce(
      (so, layer) => so.parallel(layer),
      workflow('layers'),
    ),
  loop: (rounds) => {
    let round = 0;
    const body = steps(3, 'b')
      .reduce((so, next) => so.then(next), workflow('body'))
      .commit();
    return workflow('loop').dountil(body, async () => {
      round = (round + 1) % rounds;
      return round === 0;
    });
  },
};

export function prepare({ kind, count }) {
  const built = WORKFLOWS[kind](count).commit();
  return async () => {
    const run = await built.createRunAsync();
    const output = run.stream({ inputData: {} });
    let seen = 0;
    for await (const _ of output.fullStream) seen += 1;
    const { status } = await output.result;
    if (status !== 'success') throw new Error(`The workflow ended as ${status}.`);
    return seen;
  };
}
