/** Agents in code: a model that calls tools until it has an answer, as one step. */
import { step } from '../../compose/steps.js';
import { type Agent, agentOf, answerOf } from './agent-end.js';
import { agentGraph } from './agent-graph.js';
import type { AgentInput } from './agent-input.js';
import { type AgentOptions, readAgentOptions } from './agent-options.js';
import { canAnswerLive } from './say-step.js';

/**
 * Makes an agent: a step from a question to an answer, which calls tools on the way.
 *
 * ```ts
 * import { createScriptedModel, defineTool, invoke } from 'runnel';
 * import { agent } from 'runnel/agents';
 * import { z } from 'zod';
 *
 * const weather = defineTool({
 *   name: 'weather',
 *   description: 'Tells the weather in a city.',
 *   input: z.object({ city: z.string() }),
 *   run: ({ city }) => `Rain in ${city}.`,
 * });
 * const model = createScriptedModel({
 *   rules: [
 *     { when: { user: 'jacket' }, tool_calls: [{ name: 'weather', arguments: { city: 'Oslo' } }], times: 1 },
 *     { when: {}, reply: 'Take one.' },
 *   ],
 * });
 * const guide = agent({ name: 'guide', model, tools: [weather] });
 * console.log(await invoke(guide, 'Do I need a jacket in Oslo?'));
 * // => Take one.
 * ```
 *
 * Its graph stands at the head of `agent-graph.ts`. The text of every round is live in the events of the run, as chunks of the node `model`; the
 * answer itself comes in pieces where no call can follow them (it has no tools, or `answerFrom: 'text'` says so), else when it is whole.
 *
 * Errors of a run: MODEL_RETRIES_EXHAUSTED and those of the model; OUTPUT_INVALID when the answer still does not fit after `repairs`;
 * LIMIT_REACHED with `whenStopped: 'fail'`. A tool that fails is text for the model.
 *
 * @throws EngineError PLAN_INVALID, OPTION_INVALID for options that cannot be used.
 */
export function agent<O = string>(options: AgentOptions<O>): Agent<O> {
  const setup = readAgentOptions(options as AgentOptions<never>);
  const drawn = agentGraph(setup, {}, { last: answerOf, isLive: canAnswerLive(setup) });
  const made = step<AgentInput, O>(setup.name, drawn as never, { kind: 'agent' });
  return agentOf(made, setup.description, {
    speakers: [setup.name],
    ended: (shape) => step(setup.name, agentGraph(setup, shape, { last: (end) => end }), { kind: 'agent' }),
  });
}
