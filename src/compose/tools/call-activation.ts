/** One call of a tool, as the tool sees it. */
import type { Call, Usage } from '../../graph/node-events.js';
import type { Json } from '../../json.js';
import { UNSUBSCRIBED } from '../../operators/from-abortable.js';
import type { Interrupt, InterruptOptions, InterruptPart } from '../interrupt.js';
import type { StandardSchema } from '../standard-schema.js';
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
  /** Whether the call is made again because the run was resumed. */
  readonly isResumed: boolean;
  readonly options: Readonly<Record<string, unknown>>;
  /** For questions that name no schema of their own. */
  readonly schema: StandardSchema | undefined;
}

/** A view of the step's activation for one call. */
export class CallActivation implements ToolActivation {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly key: string;
  readonly answer: unknown;
  readonly answers: ReadonlyMap<string, unknown>;
  readonly memo: unknown;
  readonly isResumed: boolean;
  readonly options: Readonly<Record<string, unknown>>;
  readonly #at: StepActivation;
  readonly #schema: StandardSchema | undefined;
  readonly #layer: string | undefined;
  #controller: AbortController | undefined;

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
    this.memo = facts.memo;
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

  now(): number {
    return this.#at.now();
  }

  random(): number {
    return this.#at.random();
  }

  state<S>(token: StateToken<S>): StateHandle<S> {
    return this.#at.state(token);
  }

  interrupt(question: unknown, options: InterruptOptions = {}): Interrupt {
    const schema = options.answer ?? this.#schema;
    return this.#own(this.#at.interrupt(question, schema === undefined ? options : { ...options, answer: schema }));
  }

  interruptAll(questions: readonly InterruptPart[], options?: Pick<InterruptOptions, 'memo'>): Interrupt {
    return this.#own(this.#at.interruptAll(questions, options));
  }

  emit(name: string, data: Json): void {
    this.#at.emit(name, data);
  }

  observe<T>(kind: StepKind, name: string, input: unknown, work: () => T, options?: InnerPartOptions): T {
    return this.#at.observe(kind, name, input, work, options);
  }

  report(event: Usage | Call): void {
    this.#at.report(event);
  }

  ready(): PromiseLike<void> | undefined {
    return this.#at.ready();
  }

  /** Ends the call before it is done: raises its signal, if anything holds it. */
  stop(): void {
    this.#controller?.abort(UNSUBSCRIBED);
  }

  #own(interrupt: Interrupt): Interrupt {
    return this.#layer === undefined ? interrupt : this.#at.interruptAll([{ id: this.#layer, interrupt }]);
  }
}
