/** One call of a tool, as the tool sees it. */
import { EngineError } from '../../errors.js';
import type { Call, Usage } from '../../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { UNSUBSCRIBED } from '../../operators/from-abortable.js';
import type { StandardSchema } from '../../standard-schema.js';
import type { FoundState, GraphAround, RunContext } from '../engine/context.js';
import { NestedRuns, type OuterStep } from '../engine/nested.js';
import type { StoredQuestion } from '../engine/questions.js';
import { StepAt } from '../engine/step-at.js';
import type { Interrupt, InterruptOptions, InterruptPart } from '../interrupt.js';
import { schemaOfJson } from '../json-schema.js';
import type { StateHandle, StateToken } from '../state.js';
import type { InnerPartOptions, StepActivation, StepKind } from '../step.js';
import type { ToolActivation } from './step-tool.js';

/** What one call has of its own. */
export interface CallFacts {
  /** Unique in the message. */
  readonly id: string;
  /** The tool's own name. */
  readonly name: string;
  /** The middleware around the call that this view is for; its questions have addresses of their own, `<id>/<layer>`. @default the tool itself */
  readonly layer?: string | undefined;
  readonly answer: unknown;
  readonly answers: ReadonlyMap<string, unknown>;
  readonly memo: unknown;
  /** Answers to questions of the call that have come with this resume, by id. */
  readonly fresh: ReadonlyMap<string, unknown>;
  /** Whether the call is made again because the run was resumed. */
  readonly isResumed: boolean;
  readonly options: Readonly<Record<string, unknown>>;
  /** For questions that name no schema of their own. */
  readonly schema: StandardSchema | undefined;
}

/** A view of the step's activation for one call. */
export class CallActivation implements ToolActivation, OuterStep {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly key: string;
  readonly answer: unknown;
  readonly answers: ReadonlyMap<string, unknown>;
  readonly memo: unknown;
  readonly isResumed: boolean;
  readonly options: Readonly<Record<string, unknown>>;
  /** Ends the call with the questions of steps that run inside it, which are made then. */
  endEarly: ((ask: () => Interrupt) => void) | undefined = undefined;
  // Functions of their own, so that tools may take them apart: ({ answer, interrupt }) => …
  readonly now = (): number => this.#at.now();
  readonly random = (): number => this.#at.random();
  readonly state = <S>(token: StateToken<S>): StateHandle<S> => this.#at.state(token);
  readonly emit = (name: string, data: Json): void => this.#at.emit(name, data);
  readonly observe = <T>(
    kind: StepKind,
    name: string,
    input: unknown,
    work: () => T,
    options: InnerPartOptions = {},
  ): T => this.#at.observe(kind, name, input, work, { ...options, id: `${this.id}/${options.id ?? name}` });
  readonly report = (event: Usage | Call): void => this.#at.report(event);
  readonly ready = (): PromiseLike<void> | undefined => this.#at.ready();
  readonly interrupt = (question: unknown, options: InterruptOptions = {}): Interrupt => {
    const schema = options.answer ?? this.#schema;
    const typed = schema === undefined ? options : { ...options, answer: schema };
    return this.#own(this.#at.interrupt(question, this.#withRuns(typed)));
  };
  readonly interruptAll = (questions: readonly InterruptPart[], options?: Pick<InterruptOptions, 'memo'>): Interrupt =>
    this.#own(this.#at.interruptAll(questions, this.#withRuns(options ?? {})));
  readonly #kept: JsonObject;
  readonly #fresh: ReadonlyMap<string, unknown>;
  readonly #at: StepActivation;
  readonly #schema: StandardSchema | undefined;
  readonly #layer: string | undefined;
  #controller: AbortController | undefined;
  #nested: NestedRuns | undefined;

  constructor(at: StepActivation, facts: CallFacts) {
    const { id, layer } = facts;
    this.#at = at;
    this.#schema = facts.schema;
    this.#layer = layer;
    this.id = id;
    this.name = facts.name;
    this.path = `${at.path}#${id}`;
    this.key = layer === undefined ? `${at.key}#${id}` : `${at.key}#${id}/${layer}`;
    this.answer = facts.answer;
    this.answers = facts.answers;
    const { memo, nested } = readMemo(facts.memo);
    this.memo = memo;
    this.#kept = nested;
    this.#fresh = facts.fresh;
    this.isResumed = facts.isResumed;
    this.options = facts.options;
  }

  get run(): string {
    return this.#at.run;
  }

  get attempt(): number {
    return this.#at.attempt;
  }

  get services(): unknown {
    return this.#at.services;
  }

  /** Made when it is first read: most tools never do. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  get context(): RunContext {
    return this.#step.context;
  }

  get place(): string {
    return `${this.#step.place}#${this.id}`;
  }

  get call(): string {
    return this.id;
  }

  get canTell(): boolean {
    return this.#step.canTell;
  }

  findState(token: StateToken<unknown>): FoundState | undefined {
    return this.#step.findState(token);
  }

  graphsAround(): readonly GraphAround[] {
    return this.#step.graphsAround();
  }

  /** The step whose call it is. */
  get #step(): StepAt {
    if (this.#at instanceof StepAt) return this.#at;
    throw new EngineError('OPTION_INVALID', `The call "${this.path}" is part of no run, so no step can run inside it.`);
  }

  get isAnswered(): boolean {
    return this.#fresh.size > 0;
  }

  get nested(): NestedRuns {
    const { codec } = this.context;
    this.#nested ??= new NestedRuns(
      {
        path: this.path,
        kept: this.#kept,
        answers: () => new Map([...this.#fresh].map(([id, answer]) => [`/${id}`, answer])),
        wait: (nested, questions) => this.endEarly?.(() => this.#passedUp(nested(), questions)),
      },
      codec,
    );
    return this.#nested;
  }

  /** Ends the call before it is done: raises its signal, if anything holds it. */
  stop(): void {
    this.#controller?.abort(UNSUBSCRIBED);
  }

  /** The questions of steps inside as those of the call. */
  #passedUp(nested: JsonObject, questions: readonly StoredQuestion[]): Interrupt {
    const { codec } = this.context;
    const parts = questions.map(({ suffix, question, expiresAt, fallback, schema }): InterruptPart => {
      const answer = isJsonObject(schema) ? schemaOfJson(schema) : undefined;
      const options: InterruptOptions = {
        ...(typeof expiresAt === 'number' && { expiresInMs: Math.max(0, expiresAt - this.now()) }),
        ...(fallback !== undefined && { fallback: codec.fromJson(fallback) }),
        ...(answer !== undefined && { answer }),
      };
      return { id: suffix.slice(1), interrupt: this.#at.interrupt(codec.fromJson(question), options) };
    });
    const memo: MemoWithRuns = { [RUNS]: nested, memo: this.memo };
    return this.#own(this.#at.interruptAll(parts, { memo }));
  }

  /** With what steps have done inside the call, so that it is not done again. */
  #withRuns(options: InterruptOptions): InterruptOptions {
    const kept: { readonly nested?: JsonObject } = Object.keys(this.#kept).length === 0 ? {} : { nested: this.#kept };
    const { nested } = this.#nested?.parts() ?? kept;
    if (nested === undefined) return options;
    const memo: MemoWithRuns = { [RUNS]: nested, memo: options.memo };
    return { ...options, memo };
  }

  #own(interrupt: Interrupt): Interrupt {
    return this.#layer === undefined ? interrupt : this.#at.interruptAll([{ id: this.#layer, interrupt }]);
  }
}

/** The key of the runs inside a call, in what is kept of it. */
const RUNS = '$runs';

interface MemoWithRuns {
  readonly [RUNS]: JsonObject;
  readonly memo: unknown;
}

function readMemo(given: unknown): { readonly memo: unknown; readonly nested: JsonObject } {
  if (!isJsonObject(given) || !isJsonObject(given[RUNS])) return { memo: given, nested: {} };
  return { memo: given.memo, nested: given[RUNS] };
}
