/** The safe point before a round of an agent: inputs that came meanwhile join, and stop rules are asked. */
import { show } from '../../compose/make-step.js';
import type { Step, StepActivation } from '../../compose/step.js';
import { step } from '../../compose/steps.js';
import { EngineError } from '../../errors.js';
import type { UserMessage } from '../../models/messages.js';
import { spentReason } from '../round.js';
import type { UserInput } from '../sessions/session-store.js';
import { type AgentInGraph, hasWork } from './agent-in-graph.js';
import type { AgentSetup } from './agent-options.js';
import { StepView } from './agent-view.js';
import { wrongGiven } from './given.js';
import { heardAt, keepHeard } from './heard-inputs.js';
import { type AgentPlace, liveAt } from './live-control.js';
import { loopAt } from './loop-state.js';
import { tellWorks } from './tell-works.js';

/** Where an agent goes from its safe point. */
export interface Heard {
  readonly next: 'model' | 'answer';
  /** Why it answers now. */
  readonly ending?: 'preempted' | 'stopped';
}

/** Takes inputs, counts the round, and decides whether there is another one. */
export function listenStep(agent: AgentInGraph): Step<unknown, Heard> {
  const { setup } = agent;
  return step('listen', (_: unknown, at): Heard => {
    const place = placeOf(setup, at);
    const live = liveAt(at);
    const loop = loopAt(at);
    if (live?.preempts(place) === true && loop.value.round > 0) return { next: 'answer', ending: 'preempted' };
    if (hasWork(agent)) tellWorks(agent, at);
    const inputs = live?.waiting(place, heardAt(at)) ?? [];
    if (inputs.length > 0) {
      loop.append('messages', ...inputs.map(messageOf));
      keepHeard(at, place, inputs, loop.value.round + 1);
      live?.deliver(place, inputs, loop.value.round + 1);
    }
    const spent = spentReason(setup.stopWhen, new StepView(setup, at));
    if (spent !== undefined && typeof spent !== 'string') {
      throw wrongGiven(`A rule in "stopWhen" of agent "${setup.name}"`, 'text that says why, or nothing', show(spent));
    }
    if (spent !== undefined) {
      const isOver = loop.value.spent !== '';
      if (setup.whenStopped === 'fail') throw stopped(setup, spent);
      if (setup.whenStopped === 'end' || isOver) return { next: 'answer', ending: 'stopped' };
      loop.update({ spent });
    }
    const round = loop.value.round + 1;
    loop.update({ round, answered: [] });
    at.emit('round-started', { agent: setup.name, round });
    return { next: 'model' };
  });
}

/** The path of the agent that a step belongs to. */
export function placeOf({ name }: Pick<AgentSetup, 'name'>, { path }: Pick<StepActivation, 'path'>): AgentPlace {
  const end = path.lastIndexOf('/');
  return { name, path: end < 0 ? '' : path.slice(0, end) };
}

function messageOf({ id, content }: UserInput): UserMessage {
  return { role: 'user', content, id };
}

function stopped({ name }: AgentSetup, reason: string): EngineError {
  const message = `Agent "${name}" was stopped before it had an answer: ${reason} Raise its limits, or let it answer with what it has (whenStopped: 'answer').`;
  return new EngineError('LIMIT_REACHED', message);
}
