/** A step that reads a typed value out of a model's answer. */
import type { AssistantMessage } from '../../models/messages.js';
import { type ParseMessageOptions, parseMessage } from '../../models/parse-message.js';
import { requireObject } from '../../operators/invalid-option.js';
import type { StandardSchema } from '../../standard-schema.js';
import type { Step } from '../step.js';
import { step } from '../steps.js';

/** Where the value is, and what the step is called. */
export interface MessageParserOptions extends ParseMessageOptions {
  /** @default 'parse' */
  readonly name?: string;
}

/**
 * A step from a model's answer to a typed value: `chatModel('gpt-4o').pipe(messageParser(z.object({ title: z.string() })))`.
 *
 * It reads as `parseMessage` does: JSON in the content, also in a fenced block, or the arguments of a tool call, at a dotted path.
 * Errors: OUTPUT_INVALID with the path, what is wrong and what was received.
 *
 * @throws EngineError OPTION_INVALID for an empty name in `path`
 */
export function messageParser<T>(
  schema: StandardSchema<unknown, T>,
  given: MessageParserOptions = {},
): Step<AssistantMessage, T> {
  requireObject('messageParser', 'options', given);
  const { name = 'parse', ...options } = given;
  return step<AssistantMessage, T>(name, parseMessage(schema, options));
}
