/** What a model can choose while it drives a browser: the actions of the browser, reading data, and the end. */
import { z } from 'zod';
import { BROWSER_ACTIONS, type BrowserAction } from '../../adapters/browser/index.js';
import type { JsonObject } from '../../json.js';
import type { ToolCall, ToolDefinition } from '../../models/chat-model.js';
import type { ChatAnswer } from '../../models/collect-answer.js';
import { parseObject } from '../chat/structured-answer.js';

/** Calls in one answer that are looked at. */
const MAX_CALLS = 10;

const OWN_STEPS = {
  extract: z
    .object({
      instruction: z.string().min(1).max(4_000).describe('What to read, in words.'),
      schema: z.record(z.string(), z.json()).describe('JSON schema of the object to give.'),
    })
    .describe('Reads data out of the page as JSON.'),
  done: z
    .object({
      answer: z.string().max(1_000_000).optional().describe('The answer for the user.'),
      use_extracted: z.boolean().optional().describe('Answers with the data of the last `extract` instead, as JSON.'),
    })
    .describe('Ends the work with an answer.'),
} as const;

const STEPS = { ...BROWSER_ACTIONS, ...OWN_STEPS };

/** One step of the work. */
export type Step =
  | BrowserAction
  | { readonly action: 'extract'; readonly instruction: string; readonly schema: JsonObject }
  | { readonly action: 'done'; readonly answer?: string; readonly use_extracted?: boolean };

/** A call of a model, and the step that it means or why it means none. */
export interface ReadCall {
  readonly call: ToolCall;
  readonly step: Step | undefined;
  readonly problem: string;
}

/** The steps as tools. Made when needed: most processes never are. */
export function stepTools(): readonly ToolDefinition[] {
  return Object.entries(STEPS).map(([name, shape]) => {
    const { $schema: _, description = '', ...parameters } = z.toJSONSchema(shape, { io: 'input' }) as JsonObject;
    return { name, description: String(description), parameters };
  });
}

/**
 * The calls of an answer. A model that writes its call as text, `{"action": "click", "ref": "e3"}`, is understood too.
 *
 * Calls beyond the tenth are left out, so that each that is given can be answered.
 */
export function readCalls({ toolCalls, text }: ChatAnswer): readonly ReadCall[] {
  if (toolCalls.length > 0) return toolCalls.slice(0, MAX_CALLS).map(readCall);
  const written = parseObject(text);
  if (typeof written?.action !== 'string') return [];
  const { action, ...values } = written;
  return [readCall({ id: 'written', name: action, arguments: JSON.stringify(values) })];
}

function readCall(call: ToolCall): ReadCall {
  if (!Object.hasOwn(STEPS, call.name)) return { call, step: undefined, problem: `There is no tool "${call.name}".` };
  const values = parseObject(call.arguments === '' ? '{}' : call.arguments);
  if (values === undefined) return { call, step: undefined, problem: 'The arguments are no JSON object.' };
  const parsed = STEPS[call.name as keyof typeof STEPS].safeParse(values);
  if (parsed.success) return { call, step: { action: call.name, ...parsed.data } as Step, problem: '' };
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  return { call, step: undefined, problem: `The arguments do not fit: ${problems.slice(0, 500)}.` };
}
