/**
 * What a runner does to agents at work: inputs that arrive meanwhile, and stops at a safe point. Agents ask for both where they can act on them;
 * the runner passes its control to them among the services of the run.
 */
import type { Observable } from 'rxjs';
import type { StepActivation } from '../../compose/step.js';
import { isJsonObject } from '../../json.js';
import type { UserInput } from '../sessions/session-store.js';

/** Where an agent can be stopped so that nothing is lost: behind its model, behind its tools, behind both. */
export type SafePoint = 'model' | 'tools' | 'round';

/** An agent, as its runner tells it from others. */
export interface AgentPlace {
  readonly name: string;
  /** Its path, such as `team/writer`. */
  readonly path: string;
}

/** What agents ask of the runner around them. */
export interface LiveControl {
  /** Inputs for an agent that it may have now, oldest first, without those that it has had. */
  waiting(agent: AgentPlace, delivered: readonly string[]): readonly UserInput[];
  /** Inputs that an agent has from now on, in this round. */
  deliver(agent: AgentPlace, inputs: readonly UserInput[], round: number): void;
  /** Whether an input ends this turn at the next safe point. */
  preempts(agent: AgentPlace): boolean;
  /** Emits when the call of the model is to be dropped for an input that the agent has not had; at once when one waits already. */
  now$(agent: AgentPlace, delivered: readonly string[]): Observable<unknown>;
  /** Emits when an agent that rests is to go on: an input that it has not had and may have now, or that ends its turn, has come, or is there already. */
  arrived$(agent: AgentPlace, delivered: readonly string[]): Observable<unknown>;
  /** An agent is at a safe point; called before the step that brought it there ends. */
  reached(agent: AgentPlace, point: SafePoint): void;
}

/** The key under which runners put their control among the services. */
export const LIVE: unique symbol = Symbol('live');

/** The control of the runner around a step; undefined outside of a runner. */
export function liveAt({ services }: Pick<StepActivation, 'services'>): LiveControl | undefined {
  return isJsonObject(services) ? (services as { readonly [LIVE]?: LiveControl })[LIVE] : undefined;
}
