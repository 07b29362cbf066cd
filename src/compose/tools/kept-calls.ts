/** What a node of tools keeps while some of its calls wait for answers, so that only those are made again. */
import { isJsonObject, type JsonObject } from '../../json.js';
import type { StandardSchema } from '../../standard-schema.js';
import { StepAt } from '../engine/step-at.js';
import type { Interrupt, InterruptOptions, InterruptPart } from '../interrupt.js';
import { jsonSchemaOf, schemaOfJson } from '../json-schema.js';
import type { StepActivation } from '../step.js';
import type { ToolContent } from './step-tool.js';

/** A question that is open. */
interface OpenQuestion {
  readonly id: string;
  readonly question: unknown;
  /** Milliseconds since 1970. @default it stays open for ever */
  readonly expiresAt?: number;
  readonly fallback?: unknown;
  /** What its answer has to be. @default anything */
  readonly schema?: JsonObject;
  /** Its answer is checked by the schema of the tool, of which `schema` may say less. @default false */
  readonly isTyped?: boolean;
}

/** A call that has not ended, or one that has. */
export interface KeptCall {
  /** Of the call, unique in the message. */
  readonly id: string;
  /** What it gave. @default it waits for answers */
  readonly result?: ToolContent;
  readonly questions: readonly OpenQuestion[];
  /** What its questions stored, by id of the asker: the call, or a middleware around it. */
  readonly memos: readonly (readonly [asker: string, memo: unknown])[];
  /** What was answered before: a middleware that has its answer goes on with it when the tool asks, too. */
  readonly answers: readonly (readonly [question: string, answer: unknown])[];
}

/** The memo of a node of tools. */
export interface KeptCalls {
  readonly calls: readonly KeptCall[];
}

/** A call that ended. */
export function keptResult(id: string, result: ToolContent): KeptCall {
  return { id, result, questions: [], memos: [], answers: [] };
}

/** What is known of a call that asks. */
export interface CallState {
  /** Those that it has already. */
  readonly answers: ReadonlyMap<string, unknown>;
  /** The tool's own, for answers. */
  readonly schema: StandardSchema | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** A call that asks. */
export function keptQuestions(id: string, interrupt: Interrupt, { answers, schema, now }: CallState): KeptCall {
  const questions: OpenQuestion[] = [];
  const memos: [string, unknown][] = [];
  for (const [asker, asked] of flatten(id, interrupt)) {
    const { memo, expiresInMs, fallback } = asked.options;
    if (memo !== undefined) memos.push([asker, memo]);
    if (asked.parts.length > 0) continue;
    const { answer } = asked.options;
    const written = answer === undefined ? undefined : jsonSchemaOf(answer);
    questions.push({
      id: asker,
      question: asked.question,
      ...(expiresInMs !== undefined && { expiresAt: now + expiresInMs }),
      ...(fallback !== undefined && { fallback }),
      ...(written !== undefined && { schema: written }),
      ...(answer !== undefined && answer === schema && { isTyped: true }),
    });
  }
  const open = new Set(questions.map((question) => question.id));
  return { id, questions, memos, answers: [...answers].filter(([question]) => !open.has(question)) };
}

/** The questions of an interrupt, each under its address below the step. */
export function questionsOf(id: string, interrupt: Interrupt): InterruptPart[] {
  return flatten(id, interrupt).flatMap(([asker, asked]) =>
    asked.parts.length > 0 ? [] : [{ id: asker, interrupt: asked }],
  );
}

/** The same questions again, for a call of which none was answered; what is left of their time stays. */
export function askAgain(kept: KeptCall, schema: StandardSchema | undefined, at: StepActivation): InterruptPart[] {
  return kept.questions.map((question) => {
    const { id, expiresAt, fallback } = question;
    const answer = answerSchema(question, schema);
    const options: InterruptOptions = {
      ...(expiresAt !== undefined && { expiresInMs: Math.max(0, expiresAt - at.now()) }),
      ...(fallback !== undefined && { fallback }),
      ...(answer !== undefined && { answer }),
    };
    return { id, interrupt: at.interrupt(question.question, options) };
  });
}

function answerSchema({ schema, isTyped = false }: OpenQuestion, own: StandardSchema | undefined) {
  if (isTyped && own !== undefined) return own;
  return schema === undefined ? undefined : schemaOfJson(schema);
}

/** Whether a call that waited is to be made again: one of its questions was answered, or the run was resumed without answers. */
export function isWoken({ questions }: KeptCall, at: StepActivation): boolean {
  const answers = freshOf(at);
  return answers.size === 0 || questions.some(({ id }) => answers.has(id));
}

/** All answers of a call, those of earlier resumes too. */
export function answersOf(kept: KeptCall | undefined, at: StepActivation): ReadonlyMap<string, unknown> {
  if (kept === undefined) return NO_ANSWERS;
  const answers = freshOf(at);
  const given = new Map(kept.answers);
  for (const { id } of kept.questions) {
    if (answers.has(id)) given.set(id, answers.get(id));
  }
  return given;
}

/** Answers that have come with this resume, by id of the question. */
export function freshAnswers(kept: KeptCall | undefined, at: StepActivation): ReadonlyMap<string, unknown> {
  const answers = freshOf(at);
  const asked = kept?.questions.filter(({ id }) => answers.has(id)) ?? [];
  return asked.length === 0 ? NO_ANSWERS : new Map(asked.map(({ id }) => [id, answers.get(id)]));
}

/** Answers of this resume alone: what was answered before is kept with its call. */
function freshOf(at: StepActivation): ReadonlyMap<string, unknown> {
  return at instanceof StepAt ? at.freshAnswers : at.answers;
}

/** Answers to the questions below an asker, by the rest of their ids. */
export function answersBelow(answers: ReadonlyMap<string, unknown>, asker: string): ReadonlyMap<string, unknown> {
  if (answers.size === 0) return NO_ANSWERS;
  const prefix = `${asker}/`;
  return new Map(
    [...answers].flatMap(([id, answer]) => (id.startsWith(prefix) ? [[id.slice(prefix.length), answer]] : [])),
  );
}

/** What an asker stored. */
export function memoOf(kept: KeptCall | undefined, asker: string): unknown {
  return kept?.memos.find(([owner]) => owner === asker)?.[1];
}

/** Reads the memo of a node of tools; of a checkpoint that another step wrote, nothing. */
export function readKept(memo: unknown): ReadonlyMap<string, KeptCall> {
  const { calls } = isJsonObject(memo) ? (memo as Partial<KeptCalls>) : {};
  return new Map(Array.isArray(calls) ? calls.map((call: KeptCall) => [call.id, call]) : []);
}

const NO_ANSWERS: ReadonlyMap<string, unknown> = new Map();

/** An interrupt and those inside, each with its id below the step. */
function flatten(id: string, interrupt: Interrupt): (readonly [asker: string, interrupt: Interrupt])[] {
  return [[id, interrupt], ...interrupt.parts.flatMap((part) => flatten(`${id}/${part.id}`, part.interrupt))];
}
