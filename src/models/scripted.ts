/** The built-in model: its script, and how it answers from one. */
import {
  concat,
  concatMap,
  defer,
  EMPTY,
  from,
  ignoreElements,
  type Observable,
  of,
  type SchedulerLike,
  throwError,
  timer,
} from 'rxjs';
import { z } from 'zod';
import { EngineError } from '../errors.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { type ChatDelta, type ChatMessage, type ChatModel, type ChatRequest, contentText } from './chat-model.js';
import { invalidSettings } from './invalid-settings.js';
import { splitThinking } from './split-thinking.js';

const delayMs = z.int().min(0).max(60_000);

const answer = {
  reply: z.string().optional(),
  reply_stream: z.array(z.string()).optional(),
  tool_calls: z
    .array(z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.json()).default({}) }))
    .optional(),
  error: z.string().optional(),
  /** Milliseconds before each piece of the answer; for demonstrations. */
  delay_ms: delayMs.optional(),
};

const rule = z.strictObject({
  when: z
    .strictObject({ system: z.string().optional(), user: z.string().optional(), tools: z.boolean().optional() })
    .default({}),
  times: z.int().min(0).optional(),
  ...answer,
});

/** What the scripted model answers; the same form as in the conformance cases and in `RUNNEL_MODELS`. */
export const scriptSchema = z.strictObject({
  rules: z.array(rule).default([]),
  default: z.strictObject(answer).optional(),
  /** For answers without a delay of their own. */
  delay_ms: delayMs.optional(),
});

/** A script as written. */
export type ScriptInput = z.input<typeof scriptSchema>;
/** A script as read. */
export type Script = z.output<typeof scriptSchema>;
/** An answer of a script. */
export type ScriptedAnswer = NonNullable<Script['default']>;

/** A rule whose expressions are compiled. */
export type CompiledRule = ReturnType<typeof compileRules>[number];

/** A call of the scripted model, for tests and for the studio. */
export interface ScriptedCall {
  /** The system messages, joined by line ends. */
  readonly system: string;
  /** The text of the last message of the role `user` or `tool`. */
  readonly user: string;
  /** All other messages, as text. */
  readonly messages: readonly { readonly role: ChatMessage['role']; readonly content: string }[];
  /** Whether tools were offered. */
  readonly tools: boolean;
}

/** How the scripted model behaves beside its script. */
export interface ScriptedModelOptions {
  /** Receives every call, retries too, before it is answered. */
  readonly onCall?: ((call: ScriptedCall) => void) | undefined;
  /** Where `delay_ms` runs. @default RxJS's timers */
  readonly scheduler?: SchedulerLike | undefined;
}

/** The answer when neither a rule nor a default gives one. */
const ECHO: ScriptedAnswer = { reply: 'echo: $user' };

/**
 * A model that answers from a script, without any network: for tests, examples and a first try.
 *
 * Takes the first rule that matches and is not used up, else the default, else echoes the last user text. Uses are counted per
 * model, over all its calls. Answers synchronously unless the script sets `delay_ms`. A scripted `error` is `MODEL_UNAVAILABLE`,
 * retryable. Usage counts four characters as a token.
 *
 * @throws EngineError `CONFIG_INVALID` when the script is not valid.
 */
export function createScriptedModel(script: ScriptInput = {}, options: ScriptedModelOptions = {}): ChatModel {
  const parsed = scriptSchema.safeParse(script);
  if (!parsed.success) throw invalidSettings('The script of the scripted model', parsed.error);
  const { default: fallback = ECHO, delay_ms: paceMs = 0 } = parsed.data;
  const rules = compileRules(parsed.data).map((rule) => ({ ...rule, uses: 0 }));

  const pick = (call: ScriptedCall): ScriptedAnswer => {
    const rule = rules.find((candidate) => candidate.uses < candidate.times && matches(candidate, call));
    if (rule === undefined) return fallback;
    rule.uses += 1;
    return rule.answer;
  };

  const reply = (request: ChatRequest): Observable<ChatDelta> => {
    const call = describe(request);
    options.onCall?.(call);
    const answer = pick(call);
    const delayMs = answer.delay_ms ?? paceMs;
    const wait$ = delayMs === 0 ? EMPTY : timer(delayMs, options.scheduler).pipe(ignoreElements());
    if (answer.error !== undefined) return concat(wait$, failure(request.model, answer.error));
    const pieces = piecesOf(answer, call);
    const { ready } = request;
    const next = (piece: ChatDelta): Observable<ChatDelta> => {
      const pause = ready?.();
      const room$ = pause === undefined ? EMPTY : fromAbortable(() => pause).pipe(ignoreElements());
      return concat(room$, wait$, of(piece));
    };
    const paced$ = delayMs === 0 ? pieces : from(pieces).pipe(concatMap(next));
    return concat(paced$, of(...closing(pieces, call)));
  };

  return { chat: (request) => defer(() => reply(request)).pipe(splitThinking()) };
}

function describe(request: ChatRequest): ScriptedCall {
  const messages = request.messages.map(({ role, content }) => ({ role, content: contentText(content) }));
  const system = messages.filter(({ role }) => role === 'system');
  return {
    system: system.map(({ content }) => content).join('\n'),
    user: messages.findLast(({ role }) => role === 'user' || role === 'tool')?.content ?? '',
    messages: messages.filter(({ role }) => role !== 'system'),
    tools: (request.tools ?? []).length > 0,
  };
}

function matches(rule: CompiledRule, call: ScriptedCall): boolean {
  if (rule.tools !== undefined && rule.tools !== call.tools) return false;
  return (rule.system?.test(call.system) ?? true) && (rule.user?.test(call.user) ?? true);
}

function piecesOf(answer: ScriptedAnswer, call: ScriptedCall): ChatDelta[] {
  const texts = answer.reply_stream ?? (answer.reply === undefined ? [] : [answer.reply]);
  const calls = answer.tool_calls ?? [];
  return [
    ...texts.map((text): ChatDelta => ({ type: 'text', text: fill(text, call) })),
    ...calls.map(({ name, arguments: values }, index): ChatDelta => {
      return { type: 'tool-call', index, id: `call_${index}`, name, arguments: JSON.stringify(values) };
    }),
  ];
}

/** Replaces `$system` and `$user` in one pass: what they stand for is not looked at again. */
function fill(text: string, call: ScriptedCall): string {
  return text.replace(/\$(system|user)/g, (_, name: 'system' | 'user') => call[name]);
}

function closing(pieces: readonly ChatDelta[], call: ScriptedCall): ChatDelta[] {
  const asked = call.messages.reduce((length, message) => length + message.content.length, call.system.length);
  const answered = pieces.reduce((length, piece) => length + lengthOf(piece), 0);
  const promptTokens = Math.ceil(asked / 4);
  const completionTokens = Math.ceil(answered / 4);
  const hasCalls = pieces.some((piece) => piece.type === 'tool-call');
  return [
    { type: 'usage', promptTokens, completionTokens, totalTokens: promptTokens + completionTokens },
    { type: 'finish', reason: hasCalls ? 'tool_calls' : 'stop' },
  ];
}

function lengthOf(piece: ChatDelta): number {
  if (piece.type === 'text') return piece.text.length;
  return piece.type === 'tool-call' ? piece.name.length + piece.arguments.length : 0;
}

function failure(model: string, message: string): Observable<never> {
  const said = `Model "${model}" reported an error: ${message}`;
  return throwError(() => new EngineError('MODEL_UNAVAILABLE', said, { retryable: true }));
}

/**
 * Compiles the expressions of a script's rules.
 *
 * They come from the configuration of the process, hence their time is not limited.
 * @throws EngineError `CONFIG_INVALID` for an expression that is none.
 */
export function compileRules(script: Script) {
  return script.rules.map((from, index) => ({
    system: compileExpression(from.when.system, `rules[${index}].when.system`),
    user: compileExpression(from.when.user, `rules[${index}].when.user`),
    tools: from.when.tools,
    times: from.times ?? Number.POSITIVE_INFINITY,
    answer: from as ScriptedAnswer,
  }));
}

function compileExpression(source: string | undefined, path: string): RegExp | undefined {
  if (source === undefined) return undefined;
  try {
    return new RegExp(source);
  } catch (cause) {
    throw new EngineError(
      'CONFIG_INVALID',
      `Scripted model: ${path} is not a regular expression; received ${JSON.stringify(source)}.`,
      { cause },
    );
  }
}
