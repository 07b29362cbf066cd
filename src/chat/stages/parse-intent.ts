/** Stage 3: what the user wants. */
import { catchError, concatMap, defer, map, type Observable, of, tap } from 'rxjs';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../json.js';
import type { ToolDefinition } from '../../models/chat-model.js';
import { parametersSchema } from '../../tools/call-tool.js';
import { type AnyTool, findTool, type Shape } from '../../tools/tool.js';
import { CONFIDENCE, type Intent } from '../intents/intent.js';
import { type ParseOptions, parseIntents } from '../intents/parse-intents.js';
import { askForJson } from './ask-for-json.js';
import { completeArguments } from './complete-arguments.js';
import { keyOf } from './rewrite-query.js';
import type { PastMessage, StageCache, StageModel, StageResult } from './stage-result.js';

/** One message and what may help to understand it. */
export interface ParseIntentOptions extends Pick<ParseOptions, 'now' | 'timezone' | 'rules'> {
  readonly message: string;
  /** @default none */
  readonly history?: readonly PastMessage[];
  /** Tools that may be called. */
  readonly tools: readonly AnyTool[];
  /** Further tools, such as those of MCP servers, that only the model knows by their descriptions. @default none */
  readonly others?: readonly ToolDefinition[];
  /** Asked only when no rule knows the message, or arguments are missing. @default rules alone */
  readonly model?: StageModel | undefined;
  /** By message, history, tools and model. @default none */
  readonly cache?: StageCache<readonly Intent[]> | undefined;
}

/** Messages of the conversation that the model sees. */
const MAX_HISTORY = 6;
const MAX_INTENTS = 4;

const TASK =
  'Say what the user wants: KB for anything that documents may answer, MCP with the name of a tool when the tool alone gives it, SYSTEM for greetings, thanks and questions about the assistant. Questions about how something works are KB. Give a confidence of 0 to 1 for each, the surest first; give several only when the message is unclear or asks for several things.';

const SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    intents: {
      type: 'array',
      minItems: 1,
      maxItems: MAX_INTENTS,
      items: {
        type: 'object',
        properties: {
          kind: { type: 'string', enum: ['KB', 'MCP', 'SYSTEM'] },
          tool: { type: 'string' },
          topic: { type: 'string', enum: ['greeting', 'identity', 'help', 'thanks'] },
          args: { type: 'object' },
          confidence: { type: 'number', minimum: 0, maximum: 1 },
        },
        required: ['kind', 'confidence'],
      },
    },
  },
  required: ['intents'],
};

const answerSchema = z.looseObject({
  intents: z.array(
    z.looseObject({
      kind: z.enum(['KB', 'MCP', 'SYSTEM']),
      tool: z.string().nullish(),
      topic: z.enum(['greeting', 'identity', 'help', 'thanks']).nullish().catch(null),
      args: z.unknown().optional(),
      confidence: z.coerce.number().min(0).max(1),
    }),
  ),
});

/**
 * Finds intents by rules; only what no rule knows is asked of the model, and missing arguments of a tool. What rules know completely is given within the
 * subscription, before anything is asked.
 *
 * ```text
 * rules     (i)|                (KB)
 * model     not asked           ---{intents}|      ---#
 * result    (i|)                ---(m|)            ---(KB|)    (degraded)
 * ```
 *
 * `detail`: `intents: [{kind, tool?, confidence}]`, `source` (`rule`, `model`, `cache`). Never errors.
 */
export function parseIntent(options: ParseIntentOptions): Observable<StageResult<readonly Intent[]>> {
  return defer(() => {
    const byRules = intentsByRules(options);
    const { model, cache, message, history = [], tools, others = [] } = options;
    const isUnknown = byRules.every(({ kind }) => kind === 'KB');
    if (model === undefined || (!isUnknown && byRules.every(({ missing }) => missing === undefined))) {
      return of(resultOf(byRules, 'rule'));
    }
    const key = keyOf([
      message.trim().toLowerCase(),
      history.slice(-MAX_HISTORY),
      [...tools, ...others].map(({ name }) => name),
      model.name,
    ]);
    const known = cache?.get(key);
    if (known !== undefined)
      return of<StageResult<readonly Intent[]>>({ ...resultOf(known, 'cache'), status: 'cache_hit' });
    const found$ = isUnknown ? askForIntents(options, model) : of(byRules);
    return found$.pipe(
      concatMap((found) => completeArguments(found, options)),
      // What is still missing may be found another time.
      tap((found) => found.every(({ missing }) => missing === undefined) && cache?.set(key, found)),
      map((found) => resultOf(found, isUnknown ? 'model' : 'rule')),
      catchError(() => of<StageResult<readonly Intent[]>>({ ...resultOf(byRules, 'rule'), status: 'degraded' })),
    );
  });
}

/** The same by rules alone, for when the model is too slow. */
export function parseIntentByRules(options: ParseIntentOptions): StageResult<readonly Intent[]> {
  return resultOf(intentsByRules(options), 'rule');
}

function intentsByRules({ message, tools, now, timezone, rules }: ParseIntentOptions): readonly Intent[] {
  return parseIntents(message, {
    tools: tools.map(({ name }) => name),
    ...(now !== undefined && { now }),
    ...(timezone !== undefined && { timezone }),
    ...(rules !== undefined && { rules }),
  });
}

function askForIntents(
  { message, history = [], tools, others = [] }: ParseIntentOptions,
  model: StageModel,
): Observable<readonly Intent[]> {
  const input: JsonObject = {
    message,
    history: history.slice(-MAX_HISTORY).map(({ role, content }) => ({ role, content })),
    tools: [
      ...tools.map((tool) => ({
        name: tool.name,
        description: tool.summary,
        parameters: parametersSchema(tool.arguments as Shape),
      })),
      ...others.map(({ name, description, parameters }) => ({ name, description, parameters })),
    ],
  };
  return askForJson(model, { name: 'chat_intent', schema: SCHEMA, task: TASK, input }).pipe(
    map((answer) => readIntents(answer, tools, others)),
  );
}

/** @throws ZodError, Error when the answer names no intent that there is */
function readIntents(
  answer: JsonObject,
  tools: readonly AnyTool[],
  others: readonly ToolDefinition[],
): readonly Intent[] {
  const intents = answerSchema.parse(answer).intents.flatMap(({ kind, tool, topic, args, confidence }): Intent[] => {
    if (kind === 'KB') return [{ kind, confidence }];
    if (kind === 'SYSTEM') return [{ kind, topic: topic ?? 'help', confidence }];
    const given = isJsonObject(args) ? args : {};
    const found = findTool(tools, tool ?? '');
    if (found !== undefined) return [toolIntent(found, given, confidence)];
    // Its server checks the arguments.
    const other = others.find(({ name }) => name === tool);
    return other === undefined ? [] : [{ kind, tool: other.name, args: given, confidence }];
  });
  if (intents.length === 0) throw new Error('the answer names no intent that there is');
  return intents.sort((a, b) => b.confidence - a.confidence).slice(0, MAX_INTENTS);
}

/** Arguments that the tool does not take count as missing where it needs them. */
function toolIntent(tool: AnyTool, args: JsonObject, confidence: number): Intent {
  const shape = tool.arguments as Record<string, z.ZodType>;
  const fit = Object.entries(shape).flatMap(([name, schema]): [string, JsonObject[string]][] => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    return value !== undefined && value !== null && schema.safeParse(value).success ? [[name, value]] : [];
  });
  const { required } = parametersSchema(tool.arguments as Shape);
  const given = Object.fromEntries(fit);
  const missing = (Array.isArray(required) ? required : []).map(String).filter((name) => !Object.hasOwn(given, name));
  const base: Intent = { kind: 'MCP', tool: tool.name, args: given, confidence };
  return missing.length === 0 ? base : { ...base, missing, confidence: Math.min(confidence, CONFIDENCE.incomplete) };
}

function resultOf(value: readonly Intent[], source: 'rule' | 'model' | 'cache'): StageResult<readonly Intent[]> {
  const intents = value.map(({ kind, tool, confidence }): JsonObject => ({ kind, ...(tool && { tool }), confidence }));
  return { value, detail: { intents, source } };
}
