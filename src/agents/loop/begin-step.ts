/** The beginning of an agent: its messages, as middlewares make them. */
import { isThenable } from '../../compose/engine/later.js';
import { Interrupt } from '../../compose/interrupt.js';
import type { Step } from '../../compose/step.js';
import { step } from '../../compose/steps.js';
import { isJsonObject } from '../../json.js';
import type { ChatMessage } from '../../models/messages.js';
import type { AgentInGraph } from './agent-in-graph.js';
import { messagesOf } from './agent-input.js';
import { asHeardBy } from './heard-by.js';
import { loopAt } from './loop-state.js';
import { runHooks } from './run-hooks.js';

/** Puts what the agent is asked into its state. */
export function beginStep({ setup }: AgentInGraph): Step<unknown, unknown> {
  const { name, language, unknownNames } = setup;
  return step('begin', (input: unknown, at) => {
    const asked = isJsonObject(input) && Array.isArray(input.messages) ? input.messages : input;
    const take = (messages: readonly ChatMessage[] | Interrupt): unknown => {
      if (messages instanceof Interrupt) return messages;
      at.emit('agent-started', { agent: name });
      for (const { owner, unknown } of unknownNames)
        at.emit('tools-unknown', { agent: name, owner, tools: [...unknown] });
      loopAt(at).update({ messages, given: messages.length });
      return {};
    };
    const heard = asHeardBy(name, messagesOf(asked, at.path, name), language);
    const messages = runHooks(setup, 'beforeAgent', heard, at);
    return isThenable(messages) ? messages.then(take) : take(messages);
  });
}
