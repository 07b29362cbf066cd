/** What a waiting run asks, as parts of a message, and what becomes of them when the run goes on. */
import type { AddressedQuestion, PendingQuestion, RunInterrupted } from '../graph/events.js';
import { isJsonObject, type Json, type JsonObject, jsonOrText } from '../json.js';
import type { CallParts } from './call-parts.js';
import { toolCallOf, type UiMessage, type UiMessageChunk } from './protocol.js';
import { answerOf, isAllowed, type QuestionId, type QuestionKind, questionId, readQuestionId } from './question-ids.js';

/** The tool that stands for a question, in parts that are no call of a tool of the run. */
export const ASK_TOOL = 'ask';

interface OpenQuestion extends QuestionId {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: Json;
  /** As the page has given it, where it is known. */
  readonly answer: Json | undefined;
}

/** The questions of a message that are open. */
export class RunQuestions {
  readonly #calls: CallParts;
  #open: readonly OpenQuestion[] = [];

  constructor(calls: CallParts) {
    this.#calls = calls;
  }

  /** Knows the newest questions of a message that goes on. */
  know({ parts }: UiMessage): void {
    const open: OpenQuestion[] = [];
    for (const part of parts) {
      const call = toolCallOf(part);
      if (call === undefined) continue;
      const { toolCallId, toolName, input = null, state } = call;
      const asked = readQuestionId(call.approval?.id ?? toolCallId);
      // What a call gave may have waited with the question of another one.
      if (asked === undefined && state === 'input-available') this.#calls.know(call);
      if (asked === undefined || state === 'output-error') continue;
      open.push({ ...asked, toolCallId, toolName, input, answer: answerOf(call)?.value });
    }
    const newest = open.at(-1)?.run;
    this.#open = open.filter(({ run }) => run === newest);
    for (const question of this.#open) if (isOfCall(question)) this.#calls.know(question);
  }

  /** Asks what a run waits for. */
  ask(event: RunInterrupted, out: UiMessageChunk[]): void {
    const { run, pending, questions } = event;
    this.#open = [];
    if (questions !== undefined) for (const question of questions) this.#askOfStep(run, question, out);
    else for (const question of pending) this.#askOfForm(run, question, out);
  }

  /** The run goes on: `given` are the answers by address, where its input has them. */
  resume(given: Json | undefined, out: UiMessageChunk[]): void {
    const open: OpenQuestion[] = [];
    for (const question of this.#open) {
      const value = question.answer ?? answerIn(given, question);
      if (value === undefined) open.push(question);
      else this.#answered(question, value, out);
    }
    this.#open = open;
  }

  #answered(question: OpenQuestion, value: Json, out: UiMessageChunk[]): void {
    const { kind, toolCallId, toolName, input } = question;
    if (kind === 'ask') {
      out.push({ type: 'tool-output-available', toolCallId, output: value });
      return;
    }
    const isApproved = isJsonObject(value) ? value.approved === true : isAllowed(value);
    if (!isApproved) {
      out.push({ type: 'tool-output-denied', toolCallId });
      this.#calls.close(toolCallId);
    } else if (isOfCall(question)) this.#calls.allow(toolCallId, toolName, input, out);
    else out.push({ type: 'tool-output-available', toolCallId, output: value });
  }

  #askOfStep(run: string, asked: AddressedQuestion, out: UiMessageChunk[]): void {
    const { address, kind: reason, question = null, schema, expiresAt } = asked;
    const kind = reason === 'ask' ? kindOf(schema) : 'ask';
    const input = {
      address,
      ...(reason === 'ask' ? { question: question as Json } : { stop: reason }),
      ...(schema && { schema }),
      ...(expiresAt !== undefined && { expiresAt }),
    };
    const call = callsIn(address).find((id) => this.#calls.find(id));
    if (kind !== 'ask' && call !== undefined) {
      const toolCallId = this.#calls.ask(call, ASK_TOOL, input, out);
      this.#request({ kind, run, address }, { toolCallId, toolName: ASK_TOOL, input }, out);
    } else this.#add({ kind, run, address }, input, out);
  }

  #askOfForm(run: string, { node, token, payload }: PendingQuestion, out: UiMessageChunk[]): void {
    const address = `${node}#${token}`;
    const { kind, calls, inputs = {}, tips = '' } = payload;
    if (kind !== 'approval' || !Array.isArray(calls)) {
      this.#add({ kind: 'ask', run, address }, { address, node, tips, inputs }, out);
      return;
    }
    for (const [index, call] of calls.entries()) {
      if (!isJsonObject(call)) continue;
      const { id, name, arguments: text } = call;
      const input = typeof text === 'string' ? jsonOrText(text) : {};
      const toolName = String(name);
      const toolCallId = this.#calls.ask(String(id), toolName, input, out);
      const field = `call_${index + 1}`;
      this.#request({ kind: 'allow', run, address, field }, { toolCallId, toolName, input }, out);
    }
  }

  /** A question that is no call of a tool. */
  #add(asked: QuestionId, input: JsonObject, out: UiMessageChunk[]): void {
    const toolCallId = questionId(asked);
    out.push({ type: 'tool-input-available', toolCallId, toolName: ASK_TOOL, input });
    const question = { toolCallId, toolName: ASK_TOOL, input };
    if (asked.kind === 'ask') this.#open = [...this.#open, { ...asked, ...question, answer: undefined }];
    else this.#request(asked, question, out);
  }

  #request(
    asked: QuestionId,
    question: Pick<OpenQuestion, 'toolCallId' | 'toolName' | 'input'>,
    out: UiMessageChunk[],
  ): void {
    out.push({ type: 'tool-approval-request', approvalId: questionId(asked), toolCallId: question.toolCallId });
    this.#open = [...this.#open, { ...asked, ...question, answer: undefined }];
  }
}

/** Whether a question is about a call of a tool of the run. */
function isOfCall({ toolCallId }: OpenQuestion): boolean {
  return readQuestionId(toolCallId) === undefined;
}

/** A yes or no is an approval, alone or with a reason. */
function kindOf(schema: JsonObject | undefined): QuestionKind {
  if (schema?.type === 'boolean') return 'approve';
  const { properties } = schema ?? {};
  const approved = isJsonObject(properties) ? properties.approved : undefined;
  return isJsonObject(approved) && approved.type === 'boolean' ? 'decide' : 'ask';
}

/** Ids that may be those of the call that an address is about: `call_1` of `tools#call_1`, of `tools#call_1/approve` and of `review#approve/call_1`. */
function callsIn(address: string): readonly string[] {
  return /#([^#]+)$/.exec(address)?.[1]?.split('/') ?? [];
}

/** The answer in the input of a canvas that goes on. */
function answerIn(given: Json | undefined, { kind, address, field }: QuestionId): Json | undefined {
  const inputs = isJsonObject(given) && isJsonObject(given.inputs) ? given.inputs : {};
  const own = Object.hasOwn(inputs, address) ? inputs[address] : undefined;
  if (kind !== 'allow') return own;
  const value = isJsonObject(own) && field !== undefined && Object.hasOwn(own, field) ? own[field] : undefined;
  return isJsonObject(value) ? value.value : value;
}
