/** A step's function called without a run. */
import { isObservable, type Observable, of } from 'rxjs';
import { Interrupt } from '../../src/compose/interrupt.js';
import { type AnyStep, DEFINITION, type StepActivation, type StepFunction } from '../../src/compose/step.js';

/** What was said through an activation. */
export interface Said {
  readonly emitted: unknown[];
  readonly reported: unknown[];
}

/** An activation of a step that no run has; what a test does not give is the plainest there is. */
export function stepActivation(given: Partial<StepActivation> = {}): StepActivation & Said {
  const said: Said = { emitted: [], reported: [] };
  return {
    path: 'tools',
    name: 'tools',
    run: 'run-1',
    key: 'run-1/1',
    attempt: 1,
    signal: new AbortController().signal,
    services: {},
    answer: undefined,
    answers: new Map(),
    isResumed: false,
    memo: undefined,
    options: {},
    now: () => 1_000,
    random: () => 0.5,
    state: () => {
      throw new Error('there is no state');
    },
    interrupt: (question, options) => new Interrupt(question, options),
    interruptAll: (questions, options) => new Interrupt(undefined, options, questions),
    emit: (name, data) => said.emitted.push({ name, data }),
    observe: (_kind, _name, _input, work) => work(),
    report: (event) => said.reported.push(event),
    ready: () => undefined,
    ...said,
    ...given,
  };
}

/** What the function of a step gives, as a stream. */
export function chunksOf<O>(step: AnyStep, input: unknown, at: StepActivation): Observable<O | Interrupt> {
  const definition = step[DEFINITION];
  if (definition.type !== 'function') throw new Error(`"${step.name}" is not a function`);
  const returned = (definition.run as StepFunction<unknown, O>)(input, at);
  return isObservable(returned) ? returned : of(returned as O);
}
