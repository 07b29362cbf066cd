/**
 * What a step is: something with a type in and a type out that runs alone, in a chain, in a graph and in a workflow. And what it is made of:
 * plain data that the compiler reads, without types and without an engine.
 *
 * ```text
 *  step · chain · parallel · branch · map · loop · graph · workflow  ──>  StepDefinition  ──>  compile.ts: Plan
 *                                                                               └──>  describe.ts, draw.ts
 * ```
 */
import type { Observable } from 'rxjs';
import type { Call, Usage } from '../graph/node-events.js';
import type { Json } from '../json.js';
import type { StandardSchema } from '../standard-schema.js';
import type { Interrupt, InterruptOptions, InterruptPart } from './interrupt.js';
import type { BoundObserver } from './observer.js';
import type { StateHandle, StateToken } from './state.js';
import type { StepKind } from './step-kind.js';

export type { StepKind };

/** The key under which a step keeps what it is; not for programs. */
export const DEFINITION: unique symbol = Symbol('definition');

/**
 * A typed unit of work. It is data: making one runs nothing, and one step may stand in any number of graphs and runs at the same time.
 *
 * `pipe` puts steps behind it; a lambda there infers its input from the step before.
 */
export interface Step<I, O> {
  readonly name: string;
  readonly kind: StepKind;
  readonly [DEFINITION]: StepDefinition;
  /** Never set: they carry the types. */
  readonly '~in'?: (input: I) => void;
  readonly '~out'?: () => O;
  pipe<A>(a: StepLike<O, A>): Step<I, A>;
  pipe<A, B>(a: StepLike<O, A>, b: StepLike<A, B>): Step<I, B>;
  pipe<A, B, C>(a: StepLike<O, A>, b: StepLike<A, B>, c: StepLike<B, C>): Step<I, C>;
  pipe<A, B, C, D>(a: StepLike<O, A>, b: StepLike<A, B>, c: StepLike<B, C>, d: StepLike<C, D>): Step<I, D>;
  pipe<A, B, C, D, E>(
    a: StepLike<O, A>,
    b: StepLike<A, B>,
    c: StepLike<B, C>,
    d: StepLike<C, D>,
    e: StepLike<D, E>,
  ): Step<I, E>;
  pipe<A, B, C, D, E, F>(
    a: StepLike<O, A>,
    b: StepLike<A, B>,
    c: StepLike<B, C>,
    d: StepLike<C, D>,
    e: StepLike<D, E>,
    f: StepLike<E, F>,
  ): Step<I, F>;
}

/**
 * A function as a step. It gets the whole input; an Observable or AsyncIterable that it returns is the stream of its chunks, anything else,
 * or what a promise gives, is its one value. The Observable of a step with the option `mayAsk` may
 * give an Interrupt in place of its first chunk.
 */
export type StepFunction<I, O> = (
  input: I,
  at: StepActivation,
) => O | PromiseLike<O | Interrupt> | Observable<O | Interrupt> | AsyncIterable<O> | Interrupt;

/** A step, or a function that stands for one. */
export type StepLike<I, O> = StepFunction<I, O> | Step<I, O>;

/** A step of any types. */
// biome-ignore lint/suspicious/noExplicitAny: steps of all types share lists
export type AnyStep = Step<any, any>;
/** A step, or a function for one, of any types. */
// biome-ignore lint/suspicious/noExplicitAny: functions of all types share lists
export type AnyStepLike = StepLike<any, any>;

/** A step that takes call options: `options(step, …)` has their type. */
export interface OptionStep<I, O, P> extends Step<I, O> {
  /** Never set: it carries the type. */
  readonly '~options'?: (options: P) => void;
}

/** The call options of a step; of a step that names none, anything by name. */
export type OptionsOf<S> = '~options' extends keyof S
  ? S extends { readonly '~options'?: (options: infer P) => void }
    ? P
    : never
  : Readonly<Record<string, unknown>>;

/** The input of a step. */
export type InputOf<S> =
  S extends Step<infer I, unknown> ? I : S extends (input: infer I, ...rest: never[]) => unknown ? I : never;

/** The output of a step; of a function, what its stream is made of. */
export type OutputOf<S> =
  S extends Step<never, infer O> ? O : S extends (...rest: never[]) => infer R ? ValueOf<R> : never;

/** What a returned value gives: of streams their chunks, of promises their value; never a question. */
export type ValueOf<R> =
  Exclude<R, Interrupt> extends infer V
    ? V extends Observable<infer O>
      ? Exclude<O, Interrupt>
      : V extends AsyncIterable<infer O>
        ? O
        : V extends PromiseLike<infer O>
          ? Exclude<O, Interrupt>
          : V
    : never;

/** What a step sees of its run while it works. */
export interface StepActivation {
  /** Where the step is: names of the graphs around and its own, such as `review/each[3]/send`; the same after a restart. */
  readonly path: string;
  /** Name of the step in its graph. */
  readonly name: string;
  /** Id of the run. */
  readonly run: string;
  /** Equal for every repetition of this activation, also after a crash: an idempotency key. */
  readonly key: string;
  /** 1 for the first try. */
  readonly attempt: number;
  /** Aborted when the step is stopped before it has ended. */
  readonly signal: AbortSignal;
  /** What the caller passed as `services`. */
  readonly services: unknown;
  /** The answer to this step's own question, once the run was resumed with one. */
  readonly answer: unknown;
  /**
   * Of a step that asked several questions with `interruptAll`: all answers so far, by id of the question, also those of earlier resumes. A question
   * that was asked again has none. Empty otherwise.
   */
  readonly answers: ReadonlyMap<string, unknown>;
  /** Whether the step runs again because its run was resumed, with or without an answer for it. */
  readonly isResumed: boolean;
  /** What the step stored with its question. */
  readonly memo: unknown;
  /** Milliseconds since 1970. */
  now(): number;
  /** Uniform in [0, 1). */
  random(): number;
  /** The state of the nearest graph around that declares it. @throws EngineError STATE_MISSING naming the graphs around. */
  state<S>(token: StateToken<S>): StateHandle<S>;
  /** Call options for this step, as `options(step, …)` gave them; `{}` without any. */
  readonly options: Readonly<Record<string, unknown>>;
  /** A question to the outside: return what it gives. `question` must be storable. */
  interrupt(question: unknown, options?: InterruptOptions): Interrupt;
  /**
   * Several questions at once, each with an id of its own: return what it gives. Their addresses are `<path>#<id>`. The step runs again as soon
   * as one of them is answered; questions that are still open then are asked again by returning them again under their ids.
   */
  interruptAll(questions: readonly InterruptPart[], options?: Pick<InterruptOptions, 'memo'>): Interrupt;
  /** Says something of its own, live in the events of the run. */
  emit(name: string, data: Json): void;
  /**
   * Does a piece of work that observers are told of like a step: its name and input when it begins, and its end when what `work` returned has come,
   * be it a value, a promise or a stream, which is given back. Its path is `<path>/<name>`. Unobserved it only calls `work`.
   */
  observe<T>(kind: StepKind, name: string, input: unknown, work: () => T, options?: InnerPartOptions): T;
  /** Adds to what the run reports of its cost and its calls: tokens that were used, calls of models and tools with their begin and end. */
  report(event: Usage | Call): void;
  /**
   * A promise while the chunks that the step gives have no room; undefined while there is room. For producers that can stop reading a source of
   * their own, such as the connection to a model; generators and async iterables need not ask.
   */
  ready(): PromiseLike<void> | undefined;
}

/** How a part of a step is reported. */
export interface InnerPartOptions {
  /** Tells it from others of its name: its path then is `<path>#<id>`. @default `<path>/<name>` */
  readonly id?: string;
  /** How its chunks become one value. @default the rule of their type */
  readonly chunks?: ConcatRule<unknown>;
}

/** A function over chunks as they come. An RxJS operator is one; others may use the activation, too: `(chunks, at) => chunks.pipe(…)`. */
export type ChunkOperator<I, O> = (chunks: Observable<I>, at: StepActivation) => Observable<O>;

/** A function over chunks that pulls them: its producer waits for it. */
export type StepGenerator<I, O> = (chunks: AsyncIterable<I>, at: StepActivation) => AsyncIterable<O>;

/** What every step may be given when it is made. */
export interface StepOptions<I = unknown, O = unknown> {
  /** Checked before the step runs; what it gives is the input. A wrong input is INPUT_INVALID. @default not checked */
  readonly input?: StandardSchema<unknown, I>;
  /** Checked after a whole value. A wrong output is OUTPUT_INVALID. @default not checked */
  readonly output?: StandardSchema<unknown, O>;
  /** Milliseconds that one activation may take. @default no limit */
  readonly timeoutMs?: number;
  /** Tries in all for errors that may pass, and the pause between them. @default 1 */
  readonly retry?: { readonly attempts: number; readonly delayMs?: number };
  /** How the chunks of its output become one value. @default the rule of their type */
  readonly chunks?: ConcatRule<O>;
  /**
   * Whether an Observable that the function returns may begin with an Interrupt. Readers of its chunks then start with its first chunk, and not
   * with the step. @default false
   */
  readonly mayAsk?: boolean;
  /**
   * Whether it does nothing but wait for other steps of its run: it takes no slot of `concurrency`, and a graceful stop does not wait for it. It has
   * no time limit then. @default false
   */
  readonly waits?: boolean;
  /** What it is for observers and options. @default 'function' */
  readonly kind?: StepKind;
  /** Set by `observed(step, …)`. @default none */
  readonly observe?: readonly BoundObserver[];
}

/** Makes one value of at least one chunk. */
export type ConcatRule<T> = (chunks: readonly T[]) => T;

// ── what steps are made of ──────────────────────────────────────────────────────────────────────────────────────────────────

/** Ids of the two ends of a graph; no node may have them. */
export const START = 'start';
export const END = 'end';

/** What steps of one function share. */
export interface CodeDefinition {
  readonly options: StepOptions;
  /** No name was given and the function has none: a chain names it by its position. @default false */
  readonly isAnonymous?: boolean;
  /** What it was made of: call options for that are for this step, too. */
  readonly origin?: object;
  /** Of a step that asks: what an answer has to be; checked before the run goes on. */
  readonly answer?: StandardSchema<unknown, unknown>;
}

/** What a step does. */
export type StepDefinition =
  /** Whole value in; one value, or chunks, out. */
  | ({ readonly type: 'function'; readonly run: StepFunction<never, unknown> } & CodeDefinition)
  /** Chunks in, chunks out; starts with its producer. */
  | ({ readonly type: 'operator'; readonly operator: ChunkOperator<never, unknown> } & CodeDefinition)
  /** The same, pulled. */
  | ({ readonly type: 'generator'; readonly run: StepGenerator<never, unknown> } & CodeDefinition)
  | { readonly type: 'graph'; readonly graph: GraphBlueprint; readonly options: StepOptions }
  | {
      readonly type: 'map';
      readonly item: AnyStep;
      /** Items at work at once. */
      readonly concurrency: number;
      /** Looks after the passes. @default nothing does */
      readonly passes?: PassRules<never, unknown>;
      readonly options: StepOptions;
    }
  | {
      readonly type: 'loop';
      readonly body: AnyStep;
      /** Asked after every round; `round` counts from 1. */
      readonly until: (value: never, round: number) => boolean | PromiseLike<boolean>;
      readonly maxRounds: number;
      readonly options: StepOptions;
    };

/** How a pass stands. `waiting`: for answers. */
export type PassStanding = 'at-work' | 'waiting' | 'ended';

/** How the passes of a map are looked after. */
export interface PassRules<T, R> {
  /** Number of a pass, in place of the item's position; unique among all passes of the node, whichever activation has them. */
  number(item: T): number;
  /** What an item gives without a pass: asked before its pass begins, or goes on after a restart. */
  known(item: T, at: StepActivation): { readonly value: R } | undefined;
  /**
   * The first value ends the pass and is its result; a pass for which there is one at once does not begin.
   *
   * @param isRestored whether the pass was open before the run was restored
   */
  instead(item: T, at: StepActivation, isRestored: boolean): Observable<R>;
  /** Told of each change; `value` is the result of a pass that has ended by itself. */
  stands(item: T, standing: PassStanding, at: StepActivation, value?: R): void;
  /** Whether passes that wait may keep the run waiting, now and after each change: then the node waits once no pass is at work. */
  mayWait(at: StepActivation): Observable<boolean>;
}

/** A graph: chains, parallels, branches, graphs and workflows all are this. Ids are unique in it, and paths are made of them. */
export interface GraphBlueprint {
  readonly name: string;
  readonly style: 'chain' | 'parallel' | 'branch' | 'graph' | 'workflow';
  readonly nodes: readonly NodeBlueprint[];
  /** From `start`, to `end`, or between nodes; each pair at most once. */
  readonly edges: readonly EdgeBlueprint[];
  /** How the result is made of what comes to `end`. @default as with a node without `input` */
  readonly end?: Pick<NodeBlueprint, 'input' | 'merge'>;
  /** Put into the graph around node by node, ids behind `<id of the node>/`; only without states, interrupts and limits of its own. */
  readonly isInline: boolean;
  readonly states: readonly StateToken<unknown>[];
  readonly interruptBefore: readonly string[];
  readonly interruptAfter: readonly string[];
  /** Settlements inside one pass through the graph. @default that of the run */
  readonly maxSteps?: number | undefined;
  /** `lockstep`: nodes start wave by wave, a wave when the one before is done. */
  readonly pace: 'eager' | 'lockstep';
  /** `first`: everything else stops at the first result. */
  readonly endWith: 'all' | 'first';
}

/** A node of a graph. */
export interface NodeBlueprint {
  readonly id: string;
  readonly step: AnyStep;
  /** Makes the node a router: it passes its input on, whole or in chunks, to the routes that it chooses. Its edges are its routes. */
  readonly route?: RouteBlueprint | undefined;
  /** How the input is made of what came over the edges. @default one arrival: itself; several: merged (see `merge`) */
  readonly input?: InputRule | undefined;
  /** For several arrivals without `input`. @default objects with different keys become one; else MERGE_CONFLICT */
  readonly merge?: ((values: readonly unknown[]) => unknown) | undefined;
  /** `all`: once per activation, when nothing can still reach it. `any`: once per arrival. @default 'all' */
  readonly trigger?: 'all' | 'any' | undefined;
  readonly before?: ((input: never, at: StepActivation) => unknown) | undefined;
  readonly after?: ((output: never, at: StepActivation) => unknown) | undefined;
  readonly beforeChunks?: ChunkOperator<never, unknown> | undefined;
  readonly afterChunks?: ChunkOperator<never, unknown> | undefined;
  /** The edges that lead out of it. */
  readonly edge?: EdgeOptions | undefined;
  readonly retry?: StepOptions['retry'];
  readonly timeoutMs?: number | undefined;
}

/** How much an edge holds for a slow reader, and what happens then. */
export interface EdgeOptions {
  /** Chunks; at least 1. @default 16 */
  readonly size?: number;
  /** @default 'pause', and 'concat' for producers that cannot be paused */
  readonly whenFull?: 'pause' | 'concat' | 'fail' | 'latest';
}

/** An edge between two nodes of a graph. */
export interface EdgeBlueprint {
  readonly from: string;
  readonly to: string;
}

/** What a router decides. */
export interface RouteBlueprint {
  /** Label to target: an id of a node, or `end`; the targets are the node's edges. */
  readonly routes: Readonly<Record<string, string>>;
  /** For whole values: the label, or labels, of the routes. */
  readonly choose?: (
    value: never,
    at: StepActivation,
  ) => string | readonly string[] | PromiseLike<string | readonly string[]>;
  /** For chunks: called with all chunks so far at each chunk, and once more with `isLast` at the end; undefined asks for more. */
  readonly choosePrefix?: (chunks: readonly never[], isLast: boolean) => string | readonly string[] | undefined;
}

/** What came over the edges of a node, by id of the node it came from (`start` for the graph's own input). A router counts as what it passes on. */
export type Arrived = ReadonlyMap<string, unknown>;

/** How a node's input is made of several sources. Pure. */
export interface InputRule {
  /** The whole input. @throws EngineError INPUT_MISSING (path, source), MERGE_CONFLICT */
  whole(arrived: Arrived): unknown;
  /** The same for one value from each of these nodes, in this order: what mostly comes, without a Map. */
  readonly inOrder?: { readonly ids: readonly string[]; whole(values: readonly unknown[]): unknown };
  /** The pieces of input that one chunk from one source is; none when it has no part in it. Absent: the node never reads chunks live. */
  piece?(from: string, chunk: unknown): readonly unknown[];
  /** Pieces that need no source: static values, made for each activation. @default none */
  readonly first?: () => readonly unknown[];
  /** Nodes whose values are read without an edge; they are put into `arrived` when they have run. @default none */
  readonly reads?: readonly string[];
  /** What it does, for descriptions and drawings. @default unknown */
  readonly mappings?: readonly FieldMapping[];
}

/** Where a field of an input comes from: a path into the output of a node, or a value that is always the same. */
export type FieldMapping = {
  /** Path of the field; empty for the whole input. */
  readonly to: string;
} & (
  | {
      /** Id of the node, or `start`. */
      readonly from: string;
      /** Path into its output; empty for the whole. */
      readonly path: string;
      /** Whether a function is applied on the way. @default false */
      readonly isMapped?: boolean;
    }
  | { readonly value: unknown }
);
