/** Values that are different in a fork: checked against the run, and put into the state that it starts with. */

import { withChange } from '../graph/fork.js';
import { indexOfNode, type Plan } from '../graph/plan.js';
import { stateFromJson } from '../graph/snapshot.js';
import type { Checkpoint, FrameState, State } from '../graph/state.js';
import type { JsonObject } from '../json.js';
import { didYouMean } from '../nearest-name.js';
import { badArgument } from './refusals.js';
import type { ForkPoint } from './start-command.js';

/**
 * A checkpoint with other variables and outputs. What is changed must be there at that point: a misspelt name would change nothing.
 *
 * @throws EngineError BAD_REQUEST for an unknown variable, component or output, and for a component that has not finished.
 */
export function withForkChange(plan: Plan, checkpoint: Checkpoint, { variables, outputs }: ForkPoint): Checkpoint {
  if (variables === undefined && outputs === undefined) return checkpoint;
  const state = stateFromJson(plan, checkpoint.state);
  for (const name of Object.keys(variables ?? {})) requireKnown('variable', name, 'The run', state.variables);
  for (const [id, values] of Object.entries(outputs ?? {})) {
    const before = outputsOf(plan, state, id);
    for (const name of Object.keys(values)) requireKnown('output', name, `Component ${JSON.stringify(id)}`, before);
  }
  return withChange(plan, checkpoint, {
    ...(variables !== undefined && { variables }),
    ...(outputs !== undefined && { outputs }),
  });
}

function requireKnown(what: string, name: string, owner: string, values: JsonObject): void {
  if (Object.hasOwn(values, name)) return;
  const hint = didYouMean(name, Object.keys(values));
  throw badArgument(`${owner} has no ${what} ${JSON.stringify(name)} at that point.${hint}`);
}

/** What a component gave that has finished and is not about to run again, which would replace it. */
function outputsOf(plan: Plan, state: State, id: string): JsonObject {
  const index = indexOfNode(plan, id);
  const named = JSON.stringify(id);
  if (index === undefined) {
    const ids = plan.nodes.map((node) => node.id);
    throw badArgument(`Outputs of ${named} cannot be changed: there is no such component.${didYouMean(id, ids)}`);
  }
  const outputs = state.cells.get(index);
  if (outputs !== undefined && !hasToken(state.root, index)) return outputs;
  const why = hasOwnOutputs(state.root, index)
    ? 'it ran in a pass with values of its own, such as one of Parallel. Change what the pass reads, or run it again from an event before it.'
    : 'it has not finished at that point. Take a later event, or change what it reads.';
  throw badArgument(`Outputs of ${named} cannot be changed: ${why}`);
}

/** Whether an open pass has values of its own, and outputs of the component among them. */
function hasOwnOutputs({ values, tokens }: FrameState, index: number): boolean {
  if (values?.cells.get(index) !== undefined) return true;
  return tokens.some(({ frames = [] }) => frames.some((frame) => hasOwnOutputs(frame, index)));
}

function hasToken({ tokens }: FrameState, index: number): boolean {
  return tokens.some(({ node, frames = [] }) => node === index || frames.some((frame) => hasToken(frame, index)));
}
