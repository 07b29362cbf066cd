/** Runs that wait: their questions and checkpoints, through JSON as in another process. */
import type { CheckpointStore } from '../../../src/graph/run-options.js';
import type { Checkpoint } from '../../../src/graph/state.js';
import {
  type AnyStepLike,
  EngineError,
  invoke,
  type Question,
  type Resumption,
  resumeFrom,
  type StepRunOptions,
} from '../../../src/index.js';

/** How an attempt to run a step ended. */
export type Attempt =
  | { readonly status: 'done'; readonly value: unknown }
  | { readonly status: 'waiting'; readonly questions: readonly Question[]; readonly checkpoint: Checkpoint };

/** Runs a step to its end or to its questions; other errors are thrown. */
export async function attempt(step: AnyStepLike, input: unknown, options: StepRunOptions = {}): Promise<Attempt> {
  try {
    return { status: 'done', value: await invoke(step, input, options) };
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== 'RUN_INTERRUPTED') throw error;
    const { questions, checkpoint } = error.details as { questions: readonly Question[]; checkpoint: Checkpoint };
    return { status: 'waiting', questions, checkpoint: throughJson(checkpoint) };
  }
}

/** The same of an attempt that has to wait. */
export async function waiting(
  step: AnyStepLike,
  input: unknown,
  options: StepRunOptions = {},
): Promise<Extract<Attempt, { status: 'waiting' }>> {
  const end = await attempt(step, input, options);
  if (end.status === 'waiting') return end;
  throw new Error(`The run does not wait, but gave ${JSON.stringify(end.value)}.`);
}

/** Addresses of what a run asks. */
export async function addresses(step: AnyStepLike, input: unknown, options: StepRunOptions = {}): Promise<string[]> {
  return (await waiting(step, input, options)).questions.map(({ address }) => address);
}

/** Answers a question after the other, each in a process of its own, which makes the step anew. */
export async function answeredOneByOne(
  make: () => AnyStepLike,
  input: unknown,
  answerOf: (question: Question) => unknown,
  choose: (count: number) => number = () => 0,
): Promise<unknown> {
  let end = await attempt(make(), input);
  for (let round = 0; end.status === 'waiting'; round += 1) {
    if (round > 1_000) throw new Error('The run asks for ever.');
    const question = end.questions[choose(end.questions.length)] as Question;
    const next: Resumption = resumeFrom(end.checkpoint, { [question.address]: answerOf(question) });
    end = await attempt(make(), next);
  }
  return end.value;
}

export function throughJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** Checkpoints as a store keeps them: as text. */
export class TextStore implements CheckpointStore {
  readonly texts = new Map<string, string>();

  save(checkpoint: Checkpoint): void {
    this.texts.set(checkpoint.run, JSON.stringify(checkpoint));
  }

  async load(run: string): Promise<Checkpoint | undefined> {
    const text = this.texts.get(run);
    return text === undefined ? undefined : (JSON.parse(text) as Checkpoint);
  }

  async delete(run: string): Promise<void> {
    this.texts.delete(run);
  }
}
