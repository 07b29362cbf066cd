/** What guards of both sides share: what a check says, how it is run, and what a trip becomes. */
import { catchError, defaultIfEmpty, defer, isObservable, map, type Observable, of, take } from 'rxjs';
import { isThenable } from '../../compose/engine/later.js';
import { EngineError } from '../../errors.js';
import type { AssistantMessage } from '../../models/messages.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { invalidOption, requireOptions } from '../../operators/invalid-option.js';
import type { AgentView } from '../loop/agent-view.js';

/** Why a guard refuses. */
export interface GuardTrip {
  /** For operators and, without a text in its place, for the caller. */
  readonly reason: string;
  /** The answer in place of the refused one. @default that of the guard's options */
  readonly replacement?: string;
}

/** What a check says: nothing, if all is well. */
export type GuardVerdict = GuardTrip | undefined;

/** A verdict at once, later, or as the first value of an Observable, which is unsubscribed when nothing needs it any more. */
export type GuardResult = GuardVerdict | PromiseLike<GuardVerdict> | Observable<GuardVerdict>;

/** A guard, for what it says when it trips. */
export interface Guard {
  readonly name: string;
  readonly replacement: string | undefined;
}

/** The verdict of a check; cold. Errors: GUARD_TRIPPED when the check fails, since then nothing is known to be well. */
export function verdictOf(name: string, check: () => GuardResult): Observable<GuardVerdict> {
  return defer(() => {
    const given = check();
    if (isObservable(given)) return given.pipe(take(1), defaultIfEmpty(undefined));
    return isThenable(given) ? fromAbortable(() => given as PromiseLike<GuardVerdict>) : of(given);
  }).pipe(
    map(readVerdict),
    catchError((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new EngineError('GUARD_TRIPPED', `Guard "${name}" could not check: ${why}`, {
        details: { guard: name },
        cause,
      });
    }),
  );
}

/** Ends a stream that a guard refused; never leaves this folder. */
export class Tripped extends Error {
  readonly trip: GuardTrip;

  constructor(trip: GuardTrip) {
    super(trip.reason);
    this.trip = trip;
  }
}

/** The text that stands in for what a guard refused; the event `guard-tripped` tells of it. @throws EngineError GUARD_TRIPPED without one. */
export function replacementFor({ name, replacement }: Guard, trip: GuardTrip, view: AgentView): string {
  view.emit('guard-tripped', { agent: view.agent, guard: name, reason: trip.reason });
  const text = trip.replacement ?? replacement;
  if (text !== undefined) return text;
  throw new EngineError('GUARD_TRIPPED', `Guard "${name}" of agent "${view.agent}" refused: ${trip.reason}`, {
    details: { agent: view.agent, guard: name, reason: trip.reason },
  });
}

/** Refuses options of a guard. @throws EngineError OPTION_INVALID */
export function requireGuard(owner: string, check: unknown, options: object, names: readonly string[]): void {
  if (typeof check !== 'function') throw invalidOption(owner, 'check', 'a function', check);
  requireOptions(owner, options, names);
  const { replacement } = options as { readonly replacement?: unknown };
  if (replacement !== undefined && typeof replacement !== 'string') {
    throw invalidOption(owner, 'replacement', 'a text', replacement);
  }
}

/** A text as the answer of a model. */
export function answerOf(text: string): AssistantMessage {
  return { role: 'assistant', content: text, finishReason: 'content_filter' };
}

/** A check that says something else, such as `true`, would otherwise let everything pass. */
function readVerdict(given: unknown): GuardVerdict {
  if (given === undefined) return undefined;
  const { reason } = (given ?? {}) as Partial<GuardTrip>;
  if (typeof reason === 'string') return given as GuardTrip;
  throw new EngineError(
    'OPTION_INVALID',
    `The check of a guard must give undefined, or { reason } to refuse; received ${JSON.stringify(given)}.`,
  );
}
