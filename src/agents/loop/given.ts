/** What hooks, rules and other functions of an agent give, checked where it comes in: a wrong value names who gave it, and nothing goes on with it. */
import { isObservable, map, type Observable } from 'rxjs';
import { isThenable } from '../../compose/engine/later.js';
import { Interrupt } from '../../compose/interrupt.js';
import { show } from '../../compose/make-step.js';
import { EngineError } from '../../errors.js';
import { isJsonObject } from '../../json.js';
import type { AssistantMessage } from '../../models/messages.js';
import { hasMethods } from '../../operators/invalid-option.js';
import { isMessage } from './agent-input.js';
import type { AnyMiddleware, HOOKS, RoundRequest } from './middleware.js';

/** What is wrong with a value; undefined when nothing is. */
type Check = (given: unknown) => string | undefined;

/** The hooks that pass a value on: what they may give in its place. */
const GIVES = {
  beforeAgent: { needs: 'a list of messages', wrong: wrongMessages },
  beforeModel: { needs: 'a request, such as { ...request, instructions }', wrong: wrongRequest },
  afterModel: { needs: 'an answer, such as { message, results }', wrong: wrongAnswer },
  afterTools: { needs: 'a list of results', wrong: wrongResults },
  afterAgent: {
    needs: 'an answer, such as { text }',
    wrong: (given) => (isJsonObject(given) && typeof given.text === 'string' ? undefined : show(given)),
  },
} as const satisfies Partial<Record<(typeof HOOKS)[number], { readonly needs: string; readonly wrong: Check }>>;

/** A hook that passes a value on. */
export type PassingHook = keyof typeof GIVES;

/**
 * What a hook gave in place of its value, or that value where it gave nothing.
 *
 * @throws EngineError NODE_PROTOCOL for something that the agent cannot go on with.
 */
export function givenBy<T>(hook: PassingHook, middleware: AnyMiddleware, given: unknown, before: T): T {
  if (given === undefined || given === before) return before;
  const { needs, wrong } = GIVES[hook];
  const problem = wrong(given);
  if (problem === undefined) return given as T;
  throw wrongGiven(hookOf(hook, middleware), `${needs}, or nothing`, problem);
}

/**
 * The pieces that a hook around the model gives.
 *
 * @throws EngineError NODE_PROTOCOL for what is no Observable; it errors with the same for a piece that is none.
 */
export function piecesBy(middleware: AnyMiddleware, given: unknown): Observable<AssistantMessage> {
  const owner = hookOf('wrapModel', middleware);
  if (!isObservable(given)) throw wrongGiven(owner, 'an Observable of pieces, such as next(request)', show(given));
  return given.pipe(
    map((piece) => {
      if (isMessage(piece) && piece.role === 'assistant') return piece;
      throw wrongGiven(owner, "pieces such as { role: 'assistant', content }", show(piece));
    }),
  );
}

/**
 * What a hook around tools gives: content, at once, later or in pieces, or a question.
 *
 * @throws EngineError NODE_PROTOCOL, whose details name the hook; a promise or an Observable of something else fails with the same.
 */
export function replyBy<T>(middleware: AnyMiddleware, given: T): T {
  if (isObservable(given)) return given.pipe(map((reply) => contentBy(middleware, reply))) as T;
  if (isThenable(given)) return given.then((later) => replyBy(middleware, later)) as T;
  const isPulled = typeof given === 'object' && given !== null && Symbol.asyncIterator in given;
  return isPulled ? given : contentBy(middleware, given);
}

/** Calls a hook. What it throws of its own names the hook: NODE_FAILED with that as its cause. */
export function calling<T>(hook: (typeof HOOKS)[number], middleware: AnyMiddleware, call: () => T): T {
  const failed = (error: unknown): never => {
    if (EngineError.is(error)) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new EngineError('NODE_FAILED', `${hookOf(hook, middleware)} failed: ${why}`, { cause: error });
  };
  try {
    const given = call();
    return isThenable(given) ? (given.then(undefined, failed) as T) : given;
  } catch (error) {
    return failed(error);
  }
}

/** Whether a call failed with what a hook gave: an error of the program, and nothing for the model. */
export function isWrongReply({ code, details }: EngineError): boolean {
  return code === 'NODE_PROTOCOL' && isJsonObject(details) && details.hook === 'wrapTool';
}

function contentBy<T>(middleware: AnyMiddleware, given: T): T {
  const isContent = typeof given === 'string' || Array.isArray(given) || given instanceof Interrupt;
  if (isContent || (isJsonObject(given) && typeof given.text === 'string')) return given;
  const needs = 'text, parts, { text }, a question, or what next(request) gives';
  throw wrongGiven(hookOf('wrapTool', middleware), needs, show(given), { hook: 'wrapTool' });
}

/**
 * A request with the fields that `prepareRound` gave in place of its own.
 *
 * @throws EngineError NODE_PROTOCOL for what is no object of fields of a request.
 */
export function preparedBy(agent: string, given: unknown, request: RoundRequest): RoundRequest {
  if (given === undefined) return request;
  const owner = `"prepareRound" of agent "${agent}"`;
  const needs = `an object with some of ${FIELDS.join(', ')}, or nothing`;
  if (!isJsonObject(given)) throw wrongGiven(owner, needs, show(given));
  const unknown = Object.keys(given).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) throw wrongGiven(owner, needs, `one with "${unknown}"`);
  const changed = { ...request, ...(given as object) };
  const problem = wrongRequest(changed);
  if (problem !== undefined) throw wrongGiven(owner, needs, problem);
  return changed;
}

const FIELDS: readonly string[] = [
  'model',
  'instructions',
  'messages',
  'tools',
  'settings',
] satisfies (keyof RoundRequest)[];

/** The error for what a function of the program gave, and must not. */
export function wrongGiven(
  owner: string,
  needs: string,
  received: string,
  details?: { readonly hook: string },
): EngineError {
  return new EngineError('NODE_PROTOCOL', `${owner} must give ${needs}; received ${received}.`, details && { details });
}

function hookOf(hook: (typeof HOOKS)[number], { name }: AnyMiddleware): string {
  return `The hook "${hook}" of the middleware "${name}"`;
}

function wrongMessages(given: unknown): string | undefined {
  return wrongItem(given, isMessage);
}

function wrongResults(given: unknown): string | undefined {
  return wrongItem(given, (item) => isMessage(item) && item.role === 'tool' && typeof item.toolCallId === 'string');
}

function wrongItem(given: unknown, fits: (item: unknown) => boolean): string | undefined {
  if (!Array.isArray(given)) return show(given);
  const index = given.findIndex((item) => !fits(item));
  return index < 0 ? undefined : `one whose [${index}] is ${show(given[index])}`;
}

function wrongAnswer(given: unknown): string | undefined {
  if (!isJsonObject(given)) return show(given);
  const { message, results } = given;
  if (!isMessage(message) || message.role !== 'assistant') return `one whose "message" is ${show(message)}`;
  const problem = wrongResults(results);
  return problem === undefined ? undefined : `one whose "results" are ${problem}`;
}

function wrongRequest(given: unknown): string | undefined {
  if (!isJsonObject(given)) return show(given);
  const { model, instructions, messages, tools, settings } = given as Readonly<Record<string, unknown>>;
  const wrong = (name: string, problem: string): string => `one whose "${name}" is ${problem}`;
  if (typeof model !== 'string' && !hasMethods(model, ['chat'])) return wrong('model', show(model));
  if (typeof instructions !== 'string') return wrong('instructions', show(instructions));
  if (!isJsonObject(settings)) return wrong('settings', show(settings));
  const said = wrongMessages(messages);
  if (said !== undefined) return wrong('messages', said);
  const offered = wrongItem(tools, (tool) => isJsonObject(tool) && typeof tool.name === 'string');
  return offered === undefined ? undefined : wrong('tools', offered);
}
