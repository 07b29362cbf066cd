/** Values that the agents of one turn share, and that a session keeps from turn to turn. */
import { StepAt } from '../../compose/engine/step-at.js';
import { defineState } from '../../compose/state.js';
import type { StepActivation } from '../../compose/step.js';
import type { Json } from '../../json.js';

/** Values by name, as a session keeps them. */
export type SessionValues = Readonly<Record<string, Json>>;

/** The values of a turn; a runner declares it around its agent. */
export const Session = defineState<SessionValues>('session', () => ({}));

/** Values of the session, as steps and hooks see them. */
export interface SessionHandle {
  readonly values: SessionValues;
  set(name: string, value: Json): void;
}

/** The values around a step; outside of a runner there are none, and what is set is forgotten. */
export function sessionAt(at: StepActivation): SessionHandle {
  const isKept = at instanceof StepAt && at.findState(Session) !== undefined;
  return {
    get values() {
      return isKept ? at.state(Session).value : NO_VALUES;
    },
    set(name, value) {
      if (isKept) at.state(Session).update({ [name]: value });
    },
  };
}

const NO_VALUES: SessionValues = Object.freeze({});
