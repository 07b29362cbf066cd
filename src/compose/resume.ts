/** Going on with a run that waits: what it asks, and what it is answered. */
import { EngineError } from '../errors.js';
import type { AddressedQuestion, PendingQuestion } from '../graph/events.js';
import { pendingQuestions } from '../graph/reporter.js';
import type { Start } from '../graph/run-options.js';
import { restore, stateFromJson } from '../graph/snapshot.js';
import type { Checkpoint } from '../graph/state.js';
import type { ValueCodec } from '../graph/typed.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { didYouMean } from '../nearest-name.js';
import { invalidOption, requireObject, requireOptions } from '../operators/invalid-option.js';
import type { CompiledStep } from './compile.js';
import { type QuestionKind, questionsIn, type StoredQuestion } from './engine/questions.js';
import { problemsBySchema, validate } from './json-schema.js';
import type { StepRunOptions } from './run-context.js';
import { requireState, type StateToken } from './state.js';
import { DEFINITION } from './step.js';
import {
  foldLog,
  type LoggedRun,
  readStored,
  type StateEdit,
  type StateMigration,
  type StoredRun,
  withStates,
} from './stored-run.js';

/** One question of a run that waits. */
export type Question = AddressedQuestion;

/**
 * The new value of a state, for `resumeFrom(…, { states: [editState(Notes, { … })] })`.
 *
 * @param options `at`: path of the graph that owns it, such as `review` or `each[3]`; needed when several have it
 * @throws EngineError OPTION_INVALID for something else than a state, and for another option.
 */
export function editState<S>(state: StateToken<S>, value: S, options: { readonly at?: string } = {}): StateEdit {
  requireState('editState', state);
  requireOptions(`editState "${state.name}"`, options, ['at']);
  const { at } = options;
  if (at !== undefined && typeof at !== 'string')
    throw invalidOption(`editState "${state.name}"`, 'at', 'a path such as "review" or "each[3]"', at);
  return { state: state as StateToken<unknown>, patch: { type: 'set', value }, at };
}

/** What a run goes on from, in place of an input; made by `resumeFrom` and `recoverFrom`. */
export class Resumption {
  /** A checkpoint, the id of the run whose checkpoint is in the store of the options, or the log of a run whose process was lost. */
  readonly from: Checkpoint | string | { readonly log: LoggedRun };
  /** By address; undefined: everything that waits runs again, without an answer. */
  readonly answers: ReadonlyMap<string, unknown> | undefined;
  readonly options: ResumeOptions;

  constructor(from: Resumption['from'], answers: ReadonlyMap<string, unknown> | undefined, options: ResumeOptions) {
    this.from = from;
    this.answers = answers;
    this.options = options;
  }
}

/** Options of a resume. */
export interface ResumeOptions {
  /** States of the graph that are changed before anything runs; see `editState`. @default none */
  readonly states?: readonly StateEdit[];
  /** Called with every state that the run has stored, also in graphs inside. @default states stay as they are */
  readonly migrateState?: StateMigration;
  /**
   * Called with what is stored of a run of another version of the graph: its position by ids of nodes, as JSON. Gives that of this version;
   * not for logs. @default PLAN_CHANGED
   */
  readonly migrate?: (state: JsonObject, planHash: string) => JsonObject;
}

/**
 * Goes on with a run that waits, or was stopped: stands where a run takes its input.
 *
 * `answers` are by address. What is not answered goes on waiting, and is in the questions of the next end; what was done is not done again.
 * Without `answers` everything that waits runs again, and may ask again.
 *
 * A checkpoint stays in its store until it is overwritten or deleted by the program: that of a run that has ended gives its result again.
 *
 * @param from a checkpoint, or the id of a run in the store that the options of the run name
 * @throws EngineError OPTION_INVALID for something else, also for the JSON text of a checkpoint, and for names that are no options; the others
 * come through the run: NOT_FOUND, PLAN_CHANGED, CHECKPOINT_INVALID, ANSWER_UNKNOWN, ANSWER_INVALID
 */
export function resumeFrom(
  from: Checkpoint | string,
  answers?: Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown>,
  options: ResumeOptions = {},
): Resumption {
  if (typeof from !== 'string' && !isJsonObject(from)) {
    throw invalidOption('resumeFrom', 'from', 'a checkpoint or the id of a stored one', from);
  }
  if (typeof from === 'string' && from.trimStart().startsWith('{')) {
    const allowed = 'a checkpoint or the id of a stored one, and no JSON text, which has to be parsed first';
    throw invalidOption('resumeFrom', 'from', allowed, `${from.slice(0, SHOWN_CHARACTERS)}…`);
  }
  requireOptions('resumeFrom', options, RESUME_OPTIONS);
  return new Resumption(from, answers === undefined ? undefined : mapOf(answers), options);
}

/**
 * Goes on with a run whose process was lost, from what its log has: stands where a run takes its input. What had settled is not done again, what
 * was at work runs again with the input it had, and questions stay, or get their answers.
 *
 * The run keeps its id, and its events go on with the next number. A step that reads a stream runs again when its producer does; what runs
 * inside a step (`within`) is part of that step.
 *
 * ```ts
 * import { chain, invoke, recoverFrom, type RunEvent } from 'runnel';
 * import type { EventLog } from 'runnel/engine';
 *
 * let snapshot: Parameters<EventLog['snapshot']>[0] | undefined;
 * const events: RunEvent[] = [];
 * const log: EventLog = {
 *   snapshot: (checkpoint) => { snapshot ??= checkpoint; },
 *   append: (event) => events.push(event),
 *   flush: async () => {},
 * };
 * const shout = chain((text: string) => text.toUpperCase(), (text) => `${text}!`);
 * await invoke(shout, 'hello', { log });
 *
 * // The process was lost behind the first settlement.
 * const lost = events.slice(0, events.findIndex(({ type }) => type === 'node-settled') + 1);
 * if (snapshot !== undefined) console.log(await invoke(shout, recoverFrom({ snapshot, events: lost })));
 * // => HELLO!
 * ```
 *
 * @param log the newest snapshot that the log took, and the events behind it
 * @throws EngineError through the run: PLAN_CHANGED, CHECKPOINT_INVALID, ANSWER_UNKNOWN, ANSWER_INVALID
 */
export function recoverFrom(
  log: LoggedRun,
  answers: Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown> = {},
  options: Omit<ResumeOptions, 'migrate'> = {},
): Resumption {
  if (typeof log !== 'object' || log === null || typeof log.events?.[Symbol.iterator] !== 'function') {
    throw invalidOption('recoverFrom', 'log', 'an object with the snapshot and the events of a log', log);
  }
  requireOptions('recoverFrom', options, RESUME_OPTIONS);
  return new Resumption({ log }, mapOf(answers), options);
}

function mapOf(
  answers: Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown>,
): ReadonlyMap<string, unknown> {
  if (!(answers instanceof Map))
    requireObject('resumeFrom', 'answers', answers, 'an object or a Map of answers by address');
  return answers instanceof Map ? answers : new Map(Object.entries(answers));
}

const RESUME_OPTIONS = ['states', 'migrateState', 'migrate'];

/** Characters of a JSON text that an error shows. */
const SHOWN_CHARACTERS = 20;

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
    const { kind, place, questions } = questionsIn(one.payload);
    const name = plan.nodes[plan.byId.get(one.node) as number]?.name ?? one.node;
    const path = one.within === undefined ? name : `${one.within}/${name}`;
    return {
      pending: one,
      kind,
      asked: questions.map((stored) => ({ address: `${prefix}${path}${place}${stored.suffix}`, stored })),
    };
  });
}

/** What a resumed run begins with. */
type ResumedStart = Extract<Start, { readonly checkpoint: Checkpoint }>;

/**
 * What the engine starts a resumed run from; at once, unless a store or a schema takes its time.
 *
 * @throws EngineError NOT_FOUND without a checkpoint under that id; PLAN_CHANGED; CHECKPOINT_INVALID; ANSWER_UNKNOWN; ANSWER_INVALID.
 */
export function startOf(
  compiled: CompiledStep,
  codec: ValueCodec,
  resumption: Resumption,
  options: StepRunOptions,
): ResumedStart | Promise<ResumedStart> {
  const { plan } = compiled;
  const { from, answers } = resumption;
  const { states = [], migrate, migrateState } = resumption.options;
  const startFrom = ({ checkpoint: stored, lost }: StoredRun): ResumedStart | Promise<ResumedStart> => {
    const checkpoint = withStates(plan, stored, states, migrateState);
    const { root } = restore(plan, stateFromJson(plan, checkpoint.state));
    const waiting = waitingIn(compiled, pendingQuestions(plan, root), '');
    const begun = (given: Given): ResumedStart => {
      const start = { checkpoint, answerOf: ({ token }: PendingQuestion) => given.get(token) };
      return lost === undefined ? start : { ...start, recovery: lost };
    };
    const given = answersFor(compiled, codec, waiting, answers, (options.now ?? Date.now)());
    return given instanceof Promise ? given.then(begun) : begun(given);
  };
  if (typeof from === 'string') {
    return load(from, options).then((found) => startFrom({ checkpoint: readStored(plan, found, migrate) }));
  }
  return startFrom('log' in from ? foldLog(plan, from.log) : { checkpoint: readStored(plan, from, migrate) });
}

async function load(from: string, { checkpoints }: StepRunOptions): Promise<unknown> {
  const found = await checkpoints?.load(from);
  if (found !== undefined) return found;
  const why =
    checkpoints === undefined
      ? 'the run has no store to load it from; give it one: { checkpoints: store }'
      : 'the store has none under that id';
  throw new EngineError('NOT_FOUND', `There is no checkpoint of run "${from}": ${why}.`);
}

type Given = ReadonlyMap<number, { readonly answer: Json | undefined }>;

function answersFor(
  compiled: CompiledStep,
  codec: ValueCodec,
  waiting: readonly Waiting[],
  answers: ReadonlyMap<string, unknown> | undefined,
  now: number,
): Given | Promise<Given> {
  requireKnown(waiting, answers);
  const given = new Map<number, { readonly answer: Json | undefined }>();
  const answered: Answered[] = [];
  for (const { pending, asked } of waiting) {
    const step = compiled.steps[compiled.plan.byId.get(pending.node) as number]?.step;
    const definition = step?.[DEFINITION];
    const schema = definition?.type === 'function' ? definition.answer : undefined;
    const bySuffix: Record<string, Json> = {};
    // What waits without a question waits for others: it looks again with every resume.
    let isAnswered = asked.length === 0;
    for (const { address, stored } of asked) {
      const isExpired = typeof stored.expiresAt === 'number' && stored.expiresAt <= now;
      if (isExpired && stored.fallback !== undefined) bySuffix[stored.suffix] = stored.fallback as Json;
      else if (answers?.has(address) === true) {
        if (isExpired) throw invalidAnswer(address, 'it came after the question had expired, which has no fallback');
        const check = (): unknown => checked(address, stored, schema, answers.get(address));
        answered.push({ check, take: (answer) => (bySuffix[stored.suffix] = codec.toJson(answer, address)) });
      } else continue;
      isAnswered = true;
    }
    if (isAnswered) given.set(pending.token, { answer: bySuffix });
    else if (answers === undefined) given.set(pending.token, { answer: undefined });
  }
  const taken = takeAll(answered, 0);
  return taken instanceof Promise ? taken.then(() => given) : given;
}

/** An answer that is to be checked, and where it goes then. */
interface Answered {
  readonly check: () => unknown;
  readonly take: (answer: unknown) => void;
}

/** Checks answers one after the other, at once where that is possible. */
function takeAll(answered: readonly Answered[], from: number): undefined | Promise<void> {
  for (let at = from; at < answered.length; at += 1) {
    const { check, take } = answered[at] as Answered;
    const answer = check();
    if (answer instanceof Promise) {
      return answer.then((value) => {
        take(value);
        return takeAll(answered, at + 1);
      });
    }
    take(answer);
  }
  return undefined;
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

function checked(
  address: string,
  { schema: stored }: StoredQuestion,
  schema: Parameters<typeof validate>[0] | undefined,
  answer: unknown,
): unknown {
  if (schema !== undefined) return validate(schema, answer, (problems) => invalidAnswer(address, problems));
  const problems = stored === undefined ? [] : problemsBySchema(stored as JsonObject, answer);
  if (problems.length > 0) throw invalidAnswer(address, problems.join('; '));
  return answer;
}

function invalidAnswer(address: string, why: string): EngineError {
  const message = `The answer at "${address}" cannot be used: ${why}. Nothing has run; the question stays.`;
  return new EngineError('ANSWER_INVALID', message, { node: address });
}
