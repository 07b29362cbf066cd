/** Asking the user whether tools may be called, in the form that clients show for any question. */
import type { PendingCall } from '../../agents/agent-state.js';
import type { Approval } from '../../agents/run-calls.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { type Form, fieldsGivenTo } from '../form-fields.js';

/** Characters of a call's arguments that the question shows. */
const MAX_SHOWN = 1_000;

const ALLOW = 'allow';
const DECLINE = 'decline';

/** What a waiting agent asks: one field for each call. */
export function approvalPayload(agent: string, calls: readonly PendingCall[]): JsonObject {
  const fields = calls.map((call, index): [string, Json] => [
    fieldName(index),
    { name: describe(call), type: 'options', options: [ALLOW, DECLINE], optional: false, value: null },
  ]);
  const [only] = calls;
  const what = calls.length === 1 && only !== undefined ? `call ${only.name}` : `make ${calls.length} calls`;
  return { kind: 'approval', inputs: Object.fromEntries(fields), tips: `${agent} would like to ${what}.` };
}

/**
 * What the user said about each call, by its id: `allow` (or true, yes) allows it, anything else declines it and is the reason.
 * Undefined while a call has no answer.
 */
export function readApprovals(
  node: string,
  answer: Json | undefined,
  calls: readonly PendingCall[],
): ReadonlyMap<string, Approval> | undefined {
  const inputs = isJsonObject(answer) && Object.hasOwn(answer, 'inputs') ? answer.inputs : answer;
  const form: Form = new Map(
    calls.map((_, index) => [fieldName(index), { type: 'options', optional: false, declared: {} }]),
  );
  const given = fieldsGivenTo(node, form, inputs);
  const approvals = new Map<string, Approval>();
  for (const [index, { id }] of calls.entries()) {
    const said = given.get(fieldName(index));
    const value = isJsonObject(said) && Object.hasOwn(said, 'value') ? said.value : said;
    if (value === undefined || value === null || value === '') return undefined;
    approvals.set(id, approvalOf(value));
  }
  return approvals;
}

function approvalOf(value: Json): Approval {
  const text = typeof value === 'string' ? value.trim() : '';
  const isAllowed = value === true || ['allow', 'yes', 'true', 'approve', 'ok'].includes(text.toLowerCase());
  return { isAllowed, reason: isAllowed || text.toLowerCase() === DECLINE ? '' : text };
}

function fieldName(index: number): string {
  return `call_${index + 1}`;
}

function describe({ name, arguments: text }: PendingCall): string {
  return `${name}(${text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text})`;
}
