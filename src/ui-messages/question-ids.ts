/**
 * Ids under which a page gets questions and sends answers: `ask:<run>:<address>` and others. The address is that of the question, as `answers` of a run
 * are given: for a form of a canvas its `form_id`.
 */
import type { Json } from '../json.js';
import type { UiToolCall } from './protocol.js';

/**
 * How an answer is written: `ask` as the output of the call that asks; the others as the approval of a call, which becomes true or false (`approve`),
 * `{approved, reason}` (`decide`), or the field of a form (`allow`).
 */
export type QuestionKind = 'ask' | 'approve' | 'decide' | 'allow';

/** Which question an id stands for. */
export interface QuestionId {
  readonly kind: QuestionKind;
  /** The run that asks. */
  readonly run: string;
  readonly address: string;
  /** Of a form, with `allow`. */
  readonly field?: string;
}

/** An answer that a page gives. */
export interface UiAnswer extends QuestionId {
  readonly value: Json;
}

/** What an approval of a form says. */
const ALLOW = 'allow';
const DECLINE = 'decline';

/** Writes an id. */
export function questionId({ kind, run, address, field }: QuestionId): string {
  // Neither may have a colon of its own; an address may.
  const [ofRun, ofField] = [encodeURIComponent(run), encodeURIComponent(field ?? '')];
  return field === undefined ? `${kind}:${ofRun}:${address}` : `${kind}:${ofRun}:${ofField}:${address}`;
}

const ID = /^(?:(ask|approve|decide):([^:]+)|(allow):([^:]+):([^:]+)):(.+)$/s;

/** Reads an id; undefined when it is none. */
export function readQuestionId(id: string): QuestionId | undefined {
  const found = ID.exec(id);
  if (found === null) return undefined;
  const [, kind, run, , runOfField, field, address = ''] = found;
  try {
    if (field === undefined) return { kind: kind as QuestionKind, run: decodeURIComponent(run ?? ''), address };
    return { kind: 'allow', run: decodeURIComponent(runOfField ?? ''), field: decodeURIComponent(field), address };
  } catch {
    return undefined;
  }
}

/** The answer that a call has, where it stands for a question; undefined while there is none. */
export function answerOf({ toolCallId, state, output, approval }: UiToolCall): UiAnswer | undefined {
  const asked = approval === undefined ? undefined : readQuestionId(approval.id);
  if (asked !== undefined && approval?.approved !== undefined) {
    const { approved, reason } = approval;
    return { ...asked, value: approvalValue(asked.kind, approved, reason) };
  }
  const question = readQuestionId(toolCallId);
  if (question?.kind !== 'ask' || state !== 'output-available' || output === undefined) return undefined;
  return { ...question, value: output };
}

function approvalValue(kind: QuestionKind, approved: boolean, reason: string): Json {
  if (kind === 'allow') return approved ? ALLOW : reason === '' ? DECLINE : reason;
  if (kind === 'decide') return reason === '' ? { approved } : { approved, reason };
  return approved;
}

const YES: readonly unknown[] = [true, ALLOW, 'yes', 'true', 'approve', 'ok'];

/** Whether an answer allows a call. */
export function isAllowed(value: unknown): boolean {
  return YES.includes(typeof value === 'string' ? value.trim().toLowerCase() : value);
}
