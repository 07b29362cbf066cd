/** Arguments that rules do not find, asked of a model. */
import { catchError, concatMap, forkJoin, map, type Observable, of } from 'rxjs';
import type { z } from 'zod';
import type { JsonObject } from '../../json.js';
import { parametersSchema } from '../../tools/call-tool.js';
import { type AnyTool, findTool, type Shape } from '../../tools/tool.js';
import type { Intent } from '../intents/intent.js';
import { CONFIDENCE } from '../intents/intent.js';
import { askForJson } from './ask-for-json.js';
import type { PastMessage, StageModel } from './stage-result.js';

/** Where arguments may come from. */
export interface CompleteOptions {
  readonly message: string;
  readonly history?: readonly PastMessage[];
  readonly tools: readonly AnyTool[];
  /** @default none is asked: what is missing stays so */
  readonly model?: StageModel | undefined;
}

const TASK =
  'Find the arguments of a tool in what the user says. Give only arguments that the user states or that follow from the conversation; leave out all others. Never guess.';

/** Messages of the conversation that the model sees. */
const MAX_HISTORY = 6;

/**
 * Intents whose missing arguments a model has filled in, as far as it could; what rules found stays. Emits once. A model that fails leaves an intent as
 * it is, so that the user is asked.
 *
 * ```text
 * intents   [weather ? city] [currency USD -> EUR]
 * model     -----{city}|
 * result    ------([weather Oslo] [currency USD -> EUR])|
 * ```
 */
export function completeArguments(intents: readonly Intent[], options: CompleteOptions): Observable<readonly Intent[]> {
  if (options.model === undefined || intents.every(({ missing }) => missing === undefined)) return of(intents);
  return forkJoin(intents.map((intent) => completed(intent, options)));
}

function completed(intent: Intent, { message, history = [], tools, model }: CompleteOptions): Observable<Intent> {
  const { tool: name = '', missing = [] } = intent;
  const tool = findTool(tools, name);
  if (tool === undefined || missing.length === 0 || model === undefined) return of(intent);
  const input: JsonObject = {
    message: intent.text ?? message,
    history: history.slice(-MAX_HISTORY).map(({ role, content }) => ({ role, content })),
    tool: { name: tool.name, description: tool.summary },
    known: intent.args ?? {},
    missing: [...missing],
  };
  const schema = { ...parametersSchema(tool.arguments as Shape), required: [] };
  return of(intent).pipe(
    concatMap(() => askForJson(model, { name: 'tool_arguments', schema, task: TASK, input })),
    map((found) => withArguments(intent, tool, found)),
    catchError(() => of(intent)),
  );
}

/** Only what was missing is taken, and only when the tool takes it. */
function withArguments(intent: Intent, tool: AnyTool, found: JsonObject): Intent {
  const shape = tool.arguments as Record<string, z.ZodType>;
  const args: Record<string, JsonObject[string]> = { ...intent.args };
  const left = (intent.missing ?? []).filter((name) => {
    const value = Object.hasOwn(found, name) ? found[name] : undefined;
    if (value === undefined || value === null || value === '') return true;
    if (shape[name]?.safeParse(value).success !== true) return true;
    args[name] = value;
    return false;
  });
  const { missing: _, ...rest } = intent;
  return left.length > 0 ? { ...rest, args, missing: left } : { ...rest, args, confidence: CONFIDENCE.complete };
}
