/** The end of an agent: its answer in the form that was asked for, or another round to mend it. */
import { isThenable } from '../../compose/engine/later.js';
import { Interrupt } from '../../compose/interrupt.js';
import type { Step, StepActivation } from '../../compose/step.js';
import { step } from '../../compose/steps.js';
import { EngineError } from '../../errors.js';
import type { ErrorInfo } from '../../graph/events.js';
import type { Json } from '../../json.js';
import { toolMessage } from '../../models/messages.js';
import { parseMessage } from '../../models/parse-message.js';
import type { AgentEnd, AnswerReason } from './agent-end.js';
import { type AgentInGraph, type Ending, hasWork, type Verdict } from './agent-in-graph.js';
import { AGENT_TEXTS } from './agent-texts.js';
import { backgroundAt, endWorks, hasOpenWork, untold } from './background-state.js';
import { sortCalls } from './call-steps.js';
import { saidTo } from './heard-by.js';
import { heardAt } from './heard-inputs.js';
import { placeOf } from './listen-step.js';
import { liveAt } from './live-control.js';
import { addedBy, loopAt, newestAnswer } from './loop-state.js';
import type { FinalAnswer } from './middleware.js';
import { runHooks } from './run-hooks.js';
import { sessionAt } from './session-values.js';

/** Decides whether the agent has its answer. */
export function answerStep(agent: AgentInGraph): Step<Ending, Verdict> {
  const { setup } = agent;
  return step('answer', ({ direct, ending }: Ending, at) => {
    const loop = loopAt(at);
    const message = newestAnswer(loop.value);
    const failed = message.extra?.failed;
    if (failed !== undefined) return ended(agent, at, { type: 'failed', error: failed as unknown as ErrorInfo });
    const { handoff } = ending === undefined && direct === undefined ? sortCalls(agent, at) : { handoff: undefined };
    if (handoff !== undefined) return handedOver(agent, at, handoff);
    const place = placeOf(setup, at);
    const live = liveAt(at);
    const hasWaiting = (live?.waiting(place, heardAt(at)).length ?? 0) > 0;
    if (ending === undefined && direct === undefined && hasWaiting && live?.preempts(place) !== true)
      return { again: true };
    const further = ending === undefined && direct === undefined ? furtherWork(agent, at) : undefined;
    if (further !== undefined) return further;
    const take = (answer: FinalAnswer | Interrupt): Verdict | Interrupt => {
      if (answer instanceof Interrupt) return answer;
      const { text } = answer;
      const read = ending === 'preempted' ? { value: text } : readAnswer(agent, text, at);
      if (read === undefined) return { again: true };
      if (setup.outputKey !== undefined) sessionAt(at).set(setup.outputKey, read.value as Json);
      const reason: AnswerReason = ending ?? (direct === undefined ? 'answered' : 'returned-directly');
      live?.reached(place, 'round');
      return ended(agent, at, { type: 'answered', reason, text, value: read.value });
    };
    const text = direct ?? message.content;
    const answer = runHooks<FinalAnswer>(setup, 'afterAgent', { text }, at);
    return (isThenable(answer) ? answer.then(take) : take(answer)) as Verdict;
  });
}

/** Whether the agent goes on for its work in the background: what has ended is told, and what has not is waited for. */
function furtherWork(agent: AgentInGraph, at: StepActivation): Verdict | undefined {
  if (!hasWork(agent) || loopAt(at).value.spent !== '') return undefined;
  if (untold(backgroundAt(at).value).length > 0) return { again: true };
  return agent.background.whenEnded === 'await' && hasOpenWork(at) ? { rest: true } : undefined;
}

type End = AgentEnd extends infer E ? (E extends AgentEnd ? Omit<E, 'agent' | 'messages'> : never) : never;

function ended(agent: AgentInGraph, at: StepActivation, end: End): Verdict {
  const { setup } = agent;
  if (hasWork(agent)) endWorks(at, 'cancelled');
  at.emit('agent-ended', { agent: setup.name, type: end.type });
  const loop = loopAt(at).value;
  const context = loop.isReplaced ? { context: loop.messages } : {};
  return { end: { ...end, agent: setup.name, messages: addedBy(loop), ...context } as AgentEnd };
}

/** Every call needs a result: that of the handoff says what happens, others were not made. */
function handedOver(
  agent: AgentInGraph,
  at: StepActivation,
  handoff: { readonly call: { readonly id: string }; readonly to: string },
): Verdict {
  const { all } = sortCalls(agent, at);
  const texts = AGENT_TEXTS[agent.setup.language];
  const results = all.map(({ id, name }) => {
    const isHandoff = id === handoff.call.id;
    return toolMessage(isHandoff ? texts.handedOver(handoff.to) : texts.notCalled, id, { name });
  });
  loopAt(at).append('messages', ...results);
  return ended(agent, at, { type: 'handed-over', to: handoff.to });
}

/**
 * The answer as the form says; undefined when the model is asked to mend it.
 *
 * @throws EngineError OUTPUT_INVALID when it has been asked as often as it may.
 */
function readAnswer(
  { setup }: AgentInGraph,
  text: string,
  at: StepActivation,
): { readonly value: unknown } | undefined {
  const { name, output, repairs, language } = setup;
  if (output === undefined) return { value: text };
  try {
    return { value: parseMessage(output)({ content: text }) };
  } catch (error) {
    const loop = loopAt(at);
    const mended = loop.value.repairs;
    if (!EngineError.is(error) || error.code !== 'OUTPUT_INVALID') throw error;
    if (mended >= repairs) {
      const tries = `${mended + 1} ${mended === 0 ? 'answer' : 'answers'}`;
      throw new EngineError(
        'OUTPUT_INVALID',
        `Agent "${name}" gave ${tries} without the form that was asked for: ${error.message}`,
        {
          cause: error,
        },
      );
    }
    loop.update({ repairs: mended + 1 });
    const content = AGENT_TEXTS[language].repair(error.message);
    loop.append('messages', saidTo(name, { role: 'user', content }));
    return undefined;
  }
}
