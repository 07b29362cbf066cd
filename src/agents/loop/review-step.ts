/** What middlewares make of an answer before its calls are made; here a person may be asked about them. */
import { afterwards } from '../../compose/engine/later.js';
import { Interrupt } from '../../compose/interrupt.js';
import type { Step } from '../../compose/step.js';
import { step } from '../../compose/steps.js';
import { uniqueCallIds } from '../../compose/tools/tools-node.js';
import type { AssistantMessage } from '../../models/messages.js';
import { afterAnswer, callsMade, partsMade } from '../round.js';
import { type AgentInGraph, type Ending, hasWork } from './agent-in-graph.js';
import { isUnfinished } from './ask-model.js';
import { sortCalls, withRefusedCalls } from './call-steps.js';
import { keptAnswer, loopAt } from './loop-state.js';
import type { RoundAnswer } from './middleware.js';
import { runHooks } from './run-hooks.js';
import { beginWorks } from './work-steps.js';

/** Takes an answer into the conversation. */
export function reviewStep(agent: AgentInGraph): Step<AssistantMessage, Ending> {
  const { setup } = agent;
  return step('review', (told: AssistantMessage, at) => {
    const loop = loopAt(at);
    const message = keptAnswer(loop.value, told);
    const take = (answer: RoundAnswer): Ending => {
      loop.append('messages', answer.message);
      if (answer.results.length > 0) loop.update({ answered: answer.results });
      if (!hasWork(agent)) return {};
      const refused = beginWorks(agent, sortCalls(agent, at).works, at);
      if (refused.length > 0) loop.update({ answered: [...answer.results, ...refused] });
      return {};
    };
    const { toolCalls: _, ...rest } = message;
    const move = afterAnswer(message, { mayCall: loop.value.spent === '', isRetry: true });
    const calls = move === 'calls' ? uniqueCallIds(callsMade(message)) : [];
    const parts = rest.parts && { parts: partsMade(rest.parts) };
    const asked: AssistantMessage = calls.length === 0 ? rest : { ...rest, ...parts, toolCalls: calls };
    if (isUnfinished(message) || message.extra?.failed !== undefined) return take({ message: asked, results: [] });
    const reviewed = runHooks<RoundAnswer>(setup, 'afterModel', { message: asked, results: [] }, at);
    return afterwards(reviewed, (answer) =>
      answer instanceof Interrupt ? answer : afterwards(withRefusedCalls(agent, answer as RoundAnswer), take as never),
    ) as Ending;
  });
}
