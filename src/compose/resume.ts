/** Going on with a run that waits: what it asks, and what it is answered. */
import { EngineError } from '../errors.js';
import type { PendingQuestion } from '../graph/events.js';
import { pendingQuestions } from '../graph/reporter.js';
import type { Start } from '../graph/run-options.js';
import { readCheckpoint, restore, stateFromJson } from '../graph/snapshot.js';
import type { Checkpoint } from '../graph/state.js';
import type { StatePatch } from '../graph/state-cell.js';
import type { ValueCodec } from '../graph/typed.js';
import type { Json, JsonObject } from '../json.js';
import { didYouMean } from '../nearest-name.js';
import type { CompiledStep } from './compile.js';
import { type QuestionKind, questionsIn, type StoredQuestion } from './engine/questions.js';
import { problemsBySchema, validate } from './json-schema.js';
import type { StepRunOptions } from './run-context.js';
import type { StateToken } from './state.js';
import { DEFINITION } from './step.js';

/** One question of a run that waits. */
export interface Question {
  /** Where it is asked, such as `review/each[3]/send#call_1`; the same after a restart. */
  readonly address: string;
  /** `ask`: a step asked. `before` and `after`: the graph stopped at a node. */
  readonly kind: QuestionKind;
  /** What the step asked with; undefined for a stop. */
  readonly question: unknown;
  /** The JSON Schema of an answer, where the question has one. */
  readonly schema?: JsonObject;
  /** When it expires, in milliseconds since 1970. @default never */
  readonly expiresAt?: number;
}

/** A change of a state of a graph before it goes on. */
export interface StateEdit {
  readonly state: StateToken<unknown>;
  readonly patch: StatePatch;
  /** Path of the graph that owns it; undefined: the outermost one. */
  readonly at: string | undefined;
}

/**
 * The new value of a state, for `resumeFrom(…, { states: [editState(Notes, { … })] })`.
 *
 * `at` is the path of the graph that owns it, with rounds, such as `review/each[3]`; by default it is the outermost graph. A graph that is not
 * under way there, or has no such state, is STATE_MISSING when the run is resumed.
 */
export function editState<S>(state: StateToken<S>, value: S, { at }: { readonly at?: string } = {}): StateEdit {
  return { state: state as StateToken<unknown>, patch: { type: 'set', value }, at };
}

/** What a run goes on from, in place of an input; made by `resumeFrom`. */
export class Resumption {
  /** A checkpoint, or the id of the run whose checkpoint is in the store of the options. */
  readonly from: Checkpoint | string;
  /** By address; undefined: everything that waits runs again, without an answer. */
  readonly answers: ReadonlyMap<string, unknown> | undefined;
  readonly states: readonly StateEdit[];
  readonly migrate: ((state: JsonObject, planHash: string) => JsonObject) | undefined;

  constructor(from: Checkpoint | string, answers: ReadonlyMap<string, unknown> | undefined, options: ResumeOptions) {
    this.from = from;
    this.answers = answers;
    this.states = options.states ?? [];
    this.migrate = options.migrate;
  }
}

/** Options of a resume. */
export interface ResumeOptions {
  /** States of the graph that are changed before anything runs; see `editState`. @default none */
  readonly states?: readonly StateEdit[];
  /** Called with the stored state of another version of the graph; gives that of this version. @default PLAN_CHANGED */
  readonly migrate?: (state: JsonObject, planHash: string) => JsonObject;
}

/**
 * Goes on with a run that waits, or was stopped: stands where a run takes its input.
 *
 * `answers` are by address. What is not answered goes on waiting, and is in the questions of the next end; what was done is not done again.
 * Without `answers` everything that waits runs again, and may ask again.
 *
 * @param from a checkpoint, or the id of a run in the store that the options of the run name
 */
export function resumeFrom(
  from: Checkpoint | string,
  answers?: Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown>,
  options: ResumeOptions = {},
): Resumption {
  const given = answers === undefined || answers instanceof Map ? answers : new Map(Object.entries(answers));
  return new Resumption(from, given as ReadonlyMap<string, unknown> | undefined, options);
}

/** A token that waits, with its questions by address. */
interface Waiting {
  readonly pending: PendingQuestion;
  readonly kind: QuestionKind;
  readonly asked: readonly { readonly address: string; readonly stored: StoredQuestion }[];
}

/** Everything that a stored run asks. @throws EngineError PLAN_CHANGED, CHECKPOINT_INVALID */
export function questionsOf(
  compiled: CompiledStep,
  codec: ValueCodec,
  pending: readonly PendingQuestion[],
  prefix = '',
): readonly Question[] {
  return waitingIn(compiled, pending, prefix).flatMap(({ kind, asked }) =>
    asked.map(({ address, stored: { question, schema, expiresAt } }) => ({
      address,
      kind,
      question: kind === 'ask' ? codec.fromJson(question) : undefined,
      ...(schema === undefined ? {} : { schema: schema as JsonObject }),
      ...(typeof expiresAt === 'number' ? { expiresAt } : {}),
    })),
  );
}

function waitingIn({ plan }: CompiledStep, pending: readonly PendingQuestion[], prefix: string): readonly Waiting[] {
  return pending.map((one) => {
    const { kind, questions } = questionsIn(one.payload);
    const name = plan.nodes[plan.byId.get(one.node) as number]?.name ?? one.node;
    const path = one.within === undefined ? name : `${one.within}/${name}`;
    return {
      pending: one,
      kind,
      asked: questions.map((stored) => ({ address: `${prefix}${path}${stored.suffix}`, stored })),
    };
  });
}

/**
 * What the engine starts a resumed run from.
 *
 * @throws EngineError NOT_FOUND without a checkpoint under that id; PLAN_CHANGED; CHECKPOINT_INVALID; ANSWER_UNKNOWN; ANSWER_INVALID.
 */
export async function startOf(
  compiled: CompiledStep,
  codec: ValueCodec,
  resumption: Resumption,
  options: StepRunOptions,
): Promise<Extract<Start, { readonly checkpoint: Checkpoint }>> {
  const loaded = readCheckpoint(await load(resumption, options));
  const checkpoint = migrated(compiled, loaded, resumption);
  const { plan } = compiled;
  if (checkpoint.planHash !== plan.hash) {
    const message = `The checkpoint of run "${checkpoint.run}" belongs to another version of the graph; resume it with the version it was started with, or give resumeFrom a "migrate" function.`;
    throw new EngineError('PLAN_CHANGED', message);
  }
  const { root } = restore(plan, stateFromJson(plan, checkpoint.state));
  const waiting = waitingIn(compiled, pendingQuestions(plan, root), '');
  const now = (options.now ?? Date.now)();
  const given = await answersFor(compiled, codec, waiting, resumption.answers, now);
  return {
    checkpoint,
    answerOf: ({ token }) => given.get(token),
    patches: resumption.states.map(({ state, patch, at }) => ({ state: state.name, patch, within: at })),
  };
}

async function load({ from }: Resumption, { checkpoints }: StepRunOptions): Promise<unknown> {
  if (typeof from !== 'string') return from;
  const found = await checkpoints?.load(from);
  if (found !== undefined) return found;
  const why =
    checkpoints === undefined ? 'the run has no "checkpoints" to load it from' : 'the store has none under that id';
  throw new EngineError('NOT_FOUND', `There is no checkpoint of run "${from}": ${why}.`);
}

function migrated({ plan }: CompiledStep, checkpoint: Checkpoint, { migrate }: Resumption): Checkpoint {
  if (checkpoint.planHash === plan.hash || migrate === undefined) return checkpoint;
  return { ...checkpoint, planHash: plan.hash, state: migrate(checkpoint.state, checkpoint.planHash) };
}

type Given = ReadonlyMap<number, { readonly answer: Json | undefined }>;

async function answersFor(
  compiled: CompiledStep,
  codec: ValueCodec,
  waiting: readonly Waiting[],
  answers: ReadonlyMap<string, unknown> | undefined,
  now: number,
): Promise<Given> {
  requireKnown(waiting, answers);
  const given = new Map<number, { readonly answer: Json | undefined }>();
  for (const { pending, asked } of waiting) {
    const step = compiled.steps[compiled.plan.byId.get(pending.node) as number]?.step;
    const definition = step?.[DEFINITION];
    const schema = definition?.type === 'function' ? definition.answer : undefined;
    const bySuffix: Record<string, Json> = {};
    for (const { address, stored } of asked) {
      const isExpired = typeof stored.expiresAt === 'number' && stored.expiresAt <= now;
      if (isExpired && stored.fallback !== undefined) bySuffix[stored.suffix] = stored.fallback as Json;
      else if (answers?.has(address) === true) {
        if (isExpired) throw invalidAnswer(address, 'it came after the question had expired, which has no fallback');
        const answer = await checked(address, stored, schema, answers.get(address));
        bySuffix[stored.suffix] = codec.toJson(answer, address);
      }
    }
    const isAnswered = Object.keys(bySuffix).length > 0;
    if (isAnswered) given.set(pending.token, { answer: bySuffix });
    else if (answers === undefined) given.set(pending.token, { answer: undefined });
  }
  return given;
}

function requireKnown(waiting: readonly Waiting[], answers: ReadonlyMap<string, unknown> | undefined): void {
  const known = waiting.flatMap(({ asked }) => asked.map(({ address }) => address));
  for (const address of answers?.keys() ?? []) {
    if (known.includes(address)) continue;
    const list = known.length === 0 ? 'it asks nothing' : `it asks at ${known.map((one) => `"${one}"`).join(', ')}`;
    const message = `The run asks nothing at "${address}"; ${list}.${didYouMean(address, known)}`;
    throw new EngineError('ANSWER_UNKNOWN', message, { details: { addresses: known } });
  }
}

async function checked(
  address: string,
  { schema: stored }: StoredQuestion,
  schema: Parameters<typeof validate>[0] | undefined,
  answer: unknown,
): Promise<unknown> {
  if (schema !== undefined) return validate(schema, answer, (problems) => invalidAnswer(address, problems));
  const problems = stored === undefined ? [] : problemsBySchema(stored as JsonObject, answer);
  if (problems.length > 0) throw invalidAnswer(address, problems.join('; '));
  return answer;
}

function invalidAnswer(address: string, why: string): EngineError {
  const message = `The answer at "${address}" cannot be used: ${why}. Nothing has run; the question stays.`;
  return new EngineError('ANSWER_INVALID', message, { node: address });
}
