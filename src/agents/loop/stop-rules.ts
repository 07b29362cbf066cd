/** When an agent stops calling tools: rules over what it has done so far. */
import { requireWhole } from '../../operators/invalid-option.js';
import { millisecondsRule, type RoundRule, tokensRule } from '../round.js';
import { ROUND_TEXTS } from '../round-texts.js';
import type { AgentView } from './agent-view.js';

/** Looks at an agent before each call of its model; text says why it may call no more tools. */
export type StopRule = RoundRule<AgentView> & {
  /** Names of tools that it looks for; an agent that has none of them is refused. @default none in particular */
  readonly toolNames?: readonly string[];
};

/**
 * At most so many calls of the model that may ask for tools.
 *
 * @throws EngineError OPTION_INVALID for something else than a whole number of at least 1.
 */
export function rounds(most: number): StopRule {
  requireWhole('rounds', 'most', most, 1);
  return ({ round, language = 'en' }) => (round >= most ? ROUND_TEXTS[language].rounds(most) : undefined);
}

/**
 * At most so many tokens, as far as the model counts them.
 *
 * @throws EngineError OPTION_INVALID for something else than a whole number of at least 1.
 */
export function tokens(most: number): StopRule {
  requireWhole('tokens', 'most', most, 1);
  return tokensRule(most);
}

/**
 * At most so many milliseconds in which the model or a tool is at work; waiting for a person does not count.
 *
 * @throws EngineError OPTION_INVALID for something else than a whole number of at least 1.
 */
export function milliseconds(most: number): StopRule {
  requireWhole('milliseconds', 'most', most, 1);
  return millisecondsRule(most);
}

/** Stops once a tool of this name has given a result. */
export function called(tool: string): StopRule {
  const rule: StopRule = ({ messages, language = 'en' }) =>
    messages.some((message) => message.role === 'tool' && message.name === tool)
      ? ROUND_TEXTS[language].called(tool)
      : undefined;
  return Object.assign(rule, { toolNames: [tool] });
}
