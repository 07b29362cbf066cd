import { deepStrictEqual } from 'node:assert/strict';
import { inspect } from 'node:util';
import { concat, concatMap, defer, EMPTY, type Observable, tap } from 'rxjs';
import { type RunHelpers, TestScheduler } from 'rxjs/testing';
import { type Question, resumeFrom } from '../compose/resume.js';
import { runForEvents } from '../compose/run.js';
import type { StepRunOptions } from '../compose/run-context.js';
import type { AnyStepLike, StepLike } from '../compose/step.js';
import type { ArgumentsOf, ToolInput } from '../compose/tools/tool-schema.js';
import { EngineError } from '../errors.js';
import type { RunEvent } from '../graph/events.js';
import type { Checkpoint } from '../graph/state.js';
import type { ChatDelta } from '../models/chat-model.js';
import { invalidOption, requireOptions } from '../operators/invalid-option.js';
import { type EventLetters, toLetters } from './events-by-letter.js';
import type { MarbleScheduler, MarbleValues } from './marble.js';
import { type MarbleCall, type MarbleModel, marbleModel } from './marble-model.js';
import { type MarbleAnswer, type MarblePerson, marblePerson } from './marble-person.js';
import { type MarbleResult, type MarbleTool, type MarbleToolSketch, marbleTool } from './marble-tool.js';

/** Options of a run in virtual time. */
export interface VirtualRunOptions extends StepRunOptions {
  /** Answers the questions of the run, which then goes on. @default it ends with its questions */
  readonly person?: MarblePerson;
}

/** What a test in virtual time works with: the helpers of RxJS (`cold`, `hot`, `expectObservable`, …), and those of agents. */
export interface VirtualTime
  extends Pick<RunHelpers, 'cold' | 'hot' | 'expectObservable' | 'expectSubscriptions' | 'flush' | 'time'> {
  readonly scheduler: MarbleScheduler;
  /** Virtual milliseconds since the test began. */
  now(): number;
  /** See {@link marbleModel}. */
  model(diagrams: readonly string[], values?: MarbleValues<ChatDelta | MarbleCall>): MarbleModel;
  /** See {@link marbleTool}. */
  tool<const I extends ToolInput>(
    sketch: MarbleToolSketch<I>,
    diagrams: readonly string[],
    values?: MarbleValues<MarbleResult<ArgumentsOf<I>>>,
  ): MarbleTool<ArgumentsOf<I>>;
  /** See {@link marblePerson}. */
  person(diagrams: readonly string[], values?: MarbleValues<MarbleAnswer>): MarblePerson;
  /** The events of a run, and of those that go on behind the answers of its person; its clock is the virtual one. */
  run<I, O>(step: StepLike<I, O>, input: I, options?: VirtualRunOptions): Observable<RunEvent>;
  /** Expects events by letter; those without a letter are not compared. @param unsubscription as in `expectObservable` */
  expectEvents<E extends { readonly type: string }>(
    events$: Observable<E>,
    letters: EventLetters<E>,
    unsubscription?: string,
  ): { toBe(diagram: string): void };
}

/** How a test in virtual time compares. */
export interface VirtualTimeOptions {
  /** Throws when two values differ: `(actual, expected) => expect(actual).toEqual(expected)`. @default `deepStrictEqual` of `node:assert` */
  readonly equal?: (actual: unknown, expected: unknown) => void;
}

/**
 * Runs a test in virtual time, where one column of a diagram is a millisecond: retries, time limits and delays take no time, and happen at the
 * same moment in every run. For every test runner.
 *
 * Timers of RxJS are virtual inside, and so is `Date.now` of a run. Promises are not: what waits for one goes on when the test is over.
 *
 * @throws what `equal` throws, with both timelines; EngineError OPTION_INVALID for a test that is no synchronous function
 */
export function inVirtualTime(test: (virtual: VirtualTime) => void, options: VirtualTimeOptions = {}): void {
  if (typeof test !== 'function') throw invalidOption('inVirtualTime', 'test', 'a function', test);
  requireOptions('inVirtualTime', options, ['equal']);
  const { equal = deepStrictEqual } = options;
  if (typeof equal !== 'function') throw invalidOption('inVirtualTime', 'equal', 'a function', equal);
  const scheduler = new TestScheduler((actual, expected) => compare(equal, actual, expected));
  scheduler.run((helpers) => {
    const given: unknown = test(virtualTime(scheduler, helpers));
    if (!(given instanceof Promise)) return;
    given.catch(() => {});
    throw invalidOption('inVirtualTime', 'test', 'a function without promises, which time would not wait for', test);
  });
}

function virtualTime(scheduler: TestScheduler, helpers: RunHelpers): VirtualTime {
  const { cold, hot, expectObservable, expectSubscriptions, flush, time } = helpers;
  const now = (): number => scheduler.now();
  return {
    ...{ scheduler, cold, hot, expectObservable, expectSubscriptions, flush, time, now },
    model: (diagrams, values) => marbleModel(scheduler, diagrams, values),
    tool: (sketch, diagrams, values) => marbleTool(scheduler, sketch, diagrams, values),
    person: (diagrams, values) => marblePerson(scheduler, diagrams, values),
    run: (step, input, { person, ...options } = {}) => runWith(step, input, { now, ...options }, person),
    expectEvents: (events$, letters, unsubscription) => {
      const expectation = expectObservable(events$.pipe(toLetters(letters)), unsubscription);
      return { toBe: (diagram) => expectation.toBe(diagram) };
    },
  };
}

function runWith(
  step: AnyStepLike,
  input: unknown,
  options: StepRunOptions,
  person: MarblePerson | undefined,
): Observable<RunEvent> {
  return defer(() => {
    let waiting: Checkpoint | undefined;
    let questions: readonly Question[] = [];
    const events$ = runForEvents(step, input, options, (checkpoint) => {
      waiting = checkpoint;
    }).pipe(
      tap((event) => {
        if (event.type === 'run-interrupted') questions = event.questions ?? [];
      }),
    );
    const rest = (): Observable<RunEvent> => {
      if (waiting === undefined || person === undefined) return EMPTY;
      const checkpoint = waiting;
      const goOn = (answers: object) =>
        runWith(step, resumeFrom(checkpoint, answers as Readonly<Record<string, unknown>>), options, person);
      return person.answer(questions).pipe(concatMap(goOn));
    };
    return concat(events$, defer(rest));
  });
}

interface Notified {
  readonly frame: number;
  readonly notification: { readonly kind: string; readonly value?: unknown; readonly error?: unknown };
}
interface Subscribed {
  readonly subscribedFrame: number;
  readonly unsubscribedFrame: number;
}
type Entry = Notified | Subscribed;

function compare(equal: (actual: unknown, expected: unknown) => void, actual: Entry[], expected: Entry[]): void {
  try {
    equal(actual.map(comparable), expected.map(comparable));
  } catch (cause) {
    const [found, wanted] = [timeline(actual), timeline(expected)];
    // What looks equal differs in something that only the comparison knows.
    if (found === wanted) throw cause;
    const isShort = actual.length < expected.length && wanted.startsWith(found);
    const hint = isShort ? '\nWhat waits for a Promise, a file or a socket does not go on in virtual time.' : '';
    throw new Error(`The timelines differ.\nexpected:\n${wanted}\nreceived:\n${found}${hint}`, { cause });
  }
}

function comparable(entry: Entry): unknown {
  if (!('notification' in entry)) return { from: entry.subscribedFrame, to: entry.unsubscribedFrame };
  const { kind, value, error } = entry.notification;
  return { frame: entry.frame, kind, value, error: comparableError(error) };
}

/** Stacks and causes differ between two errors that mean the same. */
function comparableError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return { name: error.name, message: error.message, code: EngineError.is(error) ? error.code : undefined };
}

function timeline(entries: readonly Entry[]): string {
  return entries.length === 0 ? '       nothing' : entries.map(line).join('\n');
}

function line(entry: Entry): string {
  if (!('notification' in entry))
    return `       subscribed at ${entry.subscribedFrame} ms, until ${entry.unsubscribedFrame} ms`;
  const { kind, value, error } = entry.notification;
  const said = kind === 'C' ? '|' : kind === 'E' ? `# ${shown(comparableError(error))}` : shown(value);
  return `${String(entry.frame).padStart(6)} ms  ${said}`;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : inspect(value, { depth: 8, breakLength: Number.POSITIVE_INFINITY });
}
