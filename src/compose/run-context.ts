/** What a run of a step is started with: its options, checked and turned into what the engine takes. */
import { Observable } from 'rxjs';
import { EngineError } from '../errors.js';
import type { Durability, EventLog } from '../graph/log.js';
import type { CheckpointStore, RunOptions } from '../graph/run-options.js';
import type { ValueCodec } from '../graph/typed.js';
import { hasMethods, invalidOption, requireOptions } from '../operators/invalid-option.js';
import { claimsOfOptions, type StepCallOptions } from './call-options.js';
import type { CompiledStep } from './compile.js';
import type { RunContext } from './engine/context.js';
import { InnerPaths } from './engine/inner-paths.js';
import type { OuterStep } from './engine/nested.js';
import { StepAt } from './engine/step-at.js';
import type { Observer } from './observer.js';
import { claimsOfObservers } from './observers.js';
import type { ConcatRule, StepActivation } from './step.js';
import { CallActivation } from './tools/call-activation.js';
import type { AnyValueDefinition } from './values/define-value.js';
import { valueCodec } from './values/value-codec.js';

/** Options of a run of a step, all optional. */
export interface StepRunOptions {
  /** Id of the run. @default a random one, or that of the checkpoint it is resumed from */
  readonly run?: string;
  /** Handed to every step as `at.services`. */
  readonly services?: unknown;
  /** Cancels the run at once. */
  readonly signal?: AbortSignal;
  /** Steps that may be at work at once. @default no limit */
  readonly concurrency?: number;
  /** Settlements after which the run fails with RUN_STEPS_EXCEEDED. @default 10 million */
  readonly maxSteps?: number;
  /** Milliseconds after which the run fails with RUN_TIMEOUT. @default no limit */
  readonly timeoutMs?: number;
  /** Where the run is stored when it waits or ends. */
  readonly checkpoints?: CheckpointStore;
  /** Where the run writes its events while it goes on. */
  readonly log?: EventLog;
  /** When a settlement is durable. @default 'async' with a `log`, 'exit' without */
  readonly durability?: Durability;
  /** Values that JSON cannot hold, beside those that are built in. */
  readonly values?: readonly AnyValueDefinition[];
  /** In place of `values`: writes and reads all values. */
  readonly serializer?: ValueCodec;
  /** One value of chunks of a type that has no rule. */
  readonly chunks?: (chunks: readonly never[]) => unknown;
  /** Options for steps; see `options`. */
  readonly with?: readonly StepCallOptions[];
  /** Who observes the run; see `observe`. */
  readonly observe?: readonly Observer[];
  /** The step, or the call of a tool, that this run is part of: questions are passed up to it, and it ends with it. */
  readonly within?: StepActivation;
  /**
   * Stops the run: `after-step` lets what is at work finish, for at most `withinMs`; `now`, or an error of the Observable, does not. The run can
   * be resumed from its checkpoint.
   */
  readonly cancel$?: Observable<{ readonly mode: 'now' | 'after-step'; readonly withinMs?: number }>;
  /** Clock in milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
  /** Uniform in [0, 1). @default Math.random */
  readonly random?: () => number;
}

/** What an option has to be: in words, and whether a value is it. */
type Rule = readonly [allowed: string, fits: (value: unknown) => boolean];

/** A value that the options of numbers, and those that say more in their error, are checked for elsewhere. */
const CHECKED_ELSEWHERE: Rule = ['', () => true];
const FUNCTION: Rule = ['a function', (value) => typeof value === 'function'];
const NUMBER: Rule = ['a whole number of at least 1', (value) => Number.isSafeInteger(value) && (value as number) >= 1];

const RULES: { readonly [K in keyof Required<StepRunOptions>]: Rule } = {
  run: ['a text that is not empty', (value) => typeof value === 'string' && value !== ''],
  services: CHECKED_ELSEWHERE,
  signal: ['an AbortSignal, such as controller.signal', (value) => hasMethods(value, ['addEventListener'])],
  concurrency: NUMBER,
  maxSteps: NUMBER,
  timeoutMs: NUMBER,
  checkpoints: ['a store with the functions save, load and delete', (value) => hasMethods(value, ['save', 'load'])],
  log: [
    'a log with the functions snapshot, append and flush',
    (value) => hasMethods(value, ['snapshot', 'append', 'flush']),
  ],
  durability: ['"exit", "async" or "sync"', (value) => ['exit', 'async', 'sync'].includes(value as string)],
  values: ['a list of what defineValue({ … }) gives', Array.isArray],
  serializer: ['a codec with the functions toJson and fromJson', (value) => hasMethods(value, ['toJson', 'fromJson'])],
  chunks: FUNCTION,
  with: CHECKED_ELSEWHERE,
  observe: ['a list of what observe({ … }) gives', Array.isArray],
  within: CHECKED_ELSEWHERE,
  cancel$: ['an Observable', (value) => hasMethods(value, ['subscribe'])],
  now: FUNCTION,
  random: FUNCTION,
};

const NAMES = Object.keys(RULES);

/** Refuses options that cannot be used. @throws EngineError OPTION_INVALID */
export function checkRunOptions(options: StepRunOptions): void {
  requireOptions('run', options, NAMES);
  for (const name of Object.keys(options) as (keyof StepRunOptions)[]) {
    const value = options[name];
    const [allowed, fits] = RULES[name];
    if (value !== undefined && !fits(value)) throw invalidOption('run', name, allowed, value);
  }
}

/** Codecs that need no more than what is built in share their plans. */
const BUILT_IN = valueCodec();

/** The codec of a run. */
export function codecOf({ serializer, values }: StepRunOptions): ValueCodec {
  if (serializer !== undefined) return serializer;
  return values === undefined || values.length === 0 ? BUILT_IN : valueCodec(values);
}

/** The step that a run is part of. @throws EngineError OPTION_INVALID for something that is no activation of a step */
export function outerStep({ within }: StepRunOptions): OuterStep | undefined {
  if (within === undefined || within instanceof StepAt || within instanceof CallActivation) return within;
  throw new EngineError(
    'OPTION_INVALID',
    'The option "within" must be the second argument of a step, or of the function of a tool: invoke(inner, input, { within: at }).',
  );
}

/** Path of a run in the outermost one, without rounds, and a slash; empty for a run of its own. */
export function placeOf(outer: OuterStep | undefined, name: string): string {
  return outer === undefined ? '' : `${outer.place}/${name}/`;
}

/** What the nodes of the run are handed. */
export function contextOf(
  options: StepRunOptions,
  codec: ValueCodec,
  parts: Pick<RunContext, 'observers' | 'options' | 'inside'>,
  name: string,
): RunContext {
  const outer = outerStep(options);
  return {
    services: options.services ?? outer?.services,
    codec,
    chunks: (options.chunks as ConcatRule<unknown> | undefined) ?? outer?.context.chunks,
    observers: parts.observers,
    options: parts.options,
    inside: parts.inside,
    prefix: outer === undefined ? '' : `${outer.path}/${name}/`,
    place: placeOf(outer, name),
    name,
    outer,
  };
}

/** What the outermost run watches over; a run inside it says what it has. */
export function innerPathsOf(
  compiled: CompiledStep,
  options: StepRunOptions,
  outer: OuterStep | undefined,
  place: string,
): RunContext['inside'] {
  if (outer === undefined)
    return InnerPaths.of(compiled, [...claimsOfOptions(options.with), ...claimsOfObservers(options.observe)]);
  const { inside } = outer.context;
  inside?.begun(
    place,
    compiled.steps.flatMap((node) => node?.path ?? []),
  );
  return inside;
}

/** Has the end of a run warn of paths where nothing was. */
export function warningOf(inside: RunContext['inside']): Pick<RunOptions, 'whenEnded'> {
  if (inside === undefined) return {};
  return { whenEnded: ({ status }) => status === 'succeeded' && inside.warnOfUnused() };
}

/**
 * The options of the engine, and `more`. One literal whose names come before what is spread: adding a name to a copy costs V8 ten times as
 * much, and keeps the memory of a run until the next full collection.
 */
export function engineOptions(options: StepRunOptions, context: RunContext, more: Partial<RunOptions>): RunOptions {
  const { concurrency, maxSteps, timeoutMs, checkpoints, log, durability, now, random } = options;
  const outer = outerStep(options);
  const signal = options.signal ?? outer?.signal;
  return {
    concurrency: concurrency ?? Number.MAX_SAFE_INTEGER,
    services: context,
    ...(signal === undefined ? {} : { signal }),
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(checkpoints === undefined ? {} : { checkpoints }),
    ...(log === undefined ? {} : { log }),
    ...(durability === undefined ? {} : { durability }),
    ...(now === undefined ? {} : { now }),
    ...(random === undefined ? {} : { random }),
    ...cancelOptions(options),
    ...more,
  };
}

/** What `cancel$` is to the engine. */
function cancelOptions({ cancel$ }: StepRunOptions): Partial<RunOptions> {
  if (cancel$ === undefined) return {};
  return {
    isResumable: true,
    drain$: new Observable((subscriber) =>
      cancel$.subscribe({
        next: ({ mode, withinMs }) => subscriber.next(mode === 'now' ? { withinMs: 0 } : { withinMs }),
        // A run that can no longer be told to stop does so now; it can be resumed.
        error: () => subscriber.next({ withinMs: 0 }),
      }),
    ),
  };
}
