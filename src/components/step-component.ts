/** A step as a canvas component: what is composed in code, used in documents. */
import { Observable } from 'rxjs';
import type { ZodType } from 'zod';
import { isStep } from '../compose/make-step.js';
import { resumeFrom } from '../compose/resume.js';
import { type StepOutcome, stepOutcome } from '../compose/run.js';
import type { Step } from '../compose/step.js';
import { mapTexts, resolveParam } from '../dsl/resolve.js';
import { toEngineError } from '../errors.js';
import type { Activation } from '../graph/node.js';
import { delta, interrupt, type NodeEvent, settled } from '../graph/node-events.js';
import type { Port } from '../graph/plan.js';
import type { Checkpoint } from '../graph/state.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { hasMethods, invalidOption, requireOptions } from '../operators/invalid-option.js';
import { type AnyComponent, defineComponent } from './component.js';

/** What a step needs to be a component. `P`: its parameters in a document, references replaced. */
export interface StepComponentOptions<P extends object, I, O> {
  /** The name in documents, such as `Summarise`. */
  readonly type: string;
  /** One sentence for the catalogue. @default the name of the step */
  readonly summary?: string;
  /** The parameters; references in their texts are replaced before the step gets them. */
  readonly params: ZodType<P>;
  /** The input of the step. @default the parameters */
  readonly input?: (params: P) => I;
  /** Outputs by name. @default one: `result` */
  readonly outputs?: Readonly<Record<string, Port>>;
  /** The values of the outputs. @default `{ result }` */
  readonly toOutputs?: (result: O) => JsonObject;
  /** Its text is the answer that the user reads, piece by piece. @default false */
  readonly speaks?: boolean;
  /** Seconds an activation may take; null for no limit. @default 600 */
  readonly timeoutSeconds?: number | null;
}

const OPTIONS = ['type', 'summary', 'params', 'input', 'outputs', 'toOutputs', 'speaks', 'timeoutSeconds'];

const RESULT: Readonly<Record<string, Port>> = { result: { type: 'any', description: 'What the step gave.' } };

/**
 * Makes a component of a step, for `createRegistry([...builtInComponents.values(), componentOf(step, …)])`.
 *
 * Chunks of text come live on the port `content`. Questions of the step are questions of the node, with `{ questions: [{ address, question }] }`
 * as payload; `inputs` of the next turn answers them by address, or as a whole when there is one.
 *
 * @throws EngineError as the step, with the id of the node.
 */
export function componentOf<P extends object, I, O>(
  step: Step<I, O>,
  options: StepComponentOptions<P, I, O>,
): AnyComponent {
  if (!isStep(step)) throw invalidOption('componentOf', 'step', 'a step', step);
  requireOptions('componentOf', options, OPTIONS, 'an object with "type" and "params"');
  if (typeof options.type !== 'string' || options.type === '')
    throw invalidOption('componentOf', 'type', 'a text that is not empty, such as "Summarise"', options.type);
  if (!hasMethods(options.params, ['safeParse']))
    throw invalidOption(
      `componentOf "${options.type}"`,
      'params',
      'a schema of zod, such as z.object({ … })',
      options.params,
    );
  const { type, summary = `Runs the step "${step.name}".`, params, outputs = RESULT, speaks = false } = options;
  return defineComponent<P>({
    type,
    summary,
    params,
    outputs,
    speaks,
    asks: false,
    ...(options.timeoutSeconds === undefined ? {} : { timeoutSeconds: options.timeoutSeconds }),
    create: (given) => (activation) => activate(step, options, given, activation),
  });
}

function activate<P extends object, I, O>(
  step: Step<I, O>,
  options: StepComponentOptions<P, I, O>,
  params: P,
  at: Activation,
): Observable<NodeEvent> {
  return new Observable((subscriber) => {
    const { input = (value: P) => value as unknown as I, toOutputs = (result: O) => ({ result: result as Json }) } =
      options;
    const kept = at.nodeState as unknown as Kept | undefined;
    const resolved = mapTexts(params as unknown as Json, (text) => resolveParam(text, at.source)) as unknown as P;
    const start = kept === undefined ? input(resolved) : resumeFrom(kept.checkpoint, answersTo(kept, at.answer));
    const finish = (end: StepOutcome): void => {
      if (end.status === 'succeeded') {
        subscriber.next(settled(toOutputs(end.value as O)));
        return;
      }
      const { checkpoint } = end;
      const questions = end.questions.map(
        ({ address, question }): JsonObject => ({ address, question: question as Json }),
      );
      const state = { checkpoint, addresses: end.questions.map(({ address }) => address) };
      subscriber.next({ type: 'progress', nodeState: state as unknown as Json });
      subscriber.next(interrupt({ kind: 'step', questions }));
    };
    return stepOutcome(
      step,
      start,
      { services: at.services, signal: at.signal, now: () => at.now(), random: () => at.random() },
      (chunk) => {
        if (typeof chunk === 'string') subscriber.next(delta('content', chunk));
      },
    ).subscribe({
      next: finish,
      error: (error: unknown) => subscriber.error(toEngineError(error, 'NODE_FAILED', { node: at.node })),
    });
  });
}

/** What the node keeps while its step waits. */
interface Kept {
  readonly checkpoint: Checkpoint;
  readonly addresses: readonly string[];
}

/** The inputs of a turn as answers: by address, or as a whole to the only question. */
function answersTo({ addresses }: Kept, answer: Json | undefined): Readonly<Record<string, unknown>> {
  const turn = isJsonObject(answer) ? answer : {};
  const given = 'inputs' in turn ? turn.inputs : 'query' in turn ? turn.query : answer;
  if (isJsonObject(given) && Object.keys(given).some((key) => addresses.includes(key))) {
    return Object.fromEntries(Object.entries(given).filter(([key]) => addresses.includes(key)));
  }
  const [only] = addresses;
  const isEmpty = given === undefined || given === null || (isJsonObject(given) && Object.keys(given).length === 0);
  return addresses.length === 1 && only !== undefined && !isEmpty ? { [only]: given } : {};
}
