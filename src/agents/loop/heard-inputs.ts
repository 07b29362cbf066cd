/** Inputs that the agents of a turn have had: the state of the turn, so that a turn that is recovered tells nothing twice. */
import { StepAt } from '../../compose/engine/step-at.js';
import { defineState } from '../../compose/state.js';
import type { StepActivation } from '../../compose/step.js';
import type { UserInput } from '../sessions/session-store.js';
import type { AgentPlace } from './live-control.js';

/** An input, and who had it when. */
export interface HeardInput {
  readonly id: string;
  /** Path of the agent. */
  readonly agent: string;
  readonly round: number;
}

/** The inputs of a turn that agents have had; a runner declares it around its agent. */
export const Heard = defineState<{ readonly inputs: readonly HeardInput[] }>('heard', () => ({ inputs: [] }));

/** Ids of the inputs that agents of this turn have had; none outside of a runner. */
export function heardAt(at: StepActivation): readonly string[] {
  return isInTurn(at) ? at.state(Heard).value.inputs.map(({ id }) => id) : [];
}

/** Keeps that an agent has inputs from a round on. */
export function keepHeard(at: StepActivation, { path }: AgentPlace, inputs: readonly UserInput[], round: number): void {
  if (isInTurn(at)) at.state(Heard).append('inputs', ...inputs.map(({ id }) => ({ id, agent: path, round })));
}

function isInTurn(at: StepActivation): boolean {
  return at instanceof StepAt && at.findState(Heard) !== undefined;
}
