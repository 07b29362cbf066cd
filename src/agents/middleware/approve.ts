/** A person is asked before calls are made. */
import { z } from 'zod';
import type { Interrupt, InterruptPart } from '../../compose/interrupt.js';
import { uniqueCallIds } from '../../compose/tools/tools-node.js';
import { EngineError } from '../../errors.js';
import type { Json, JsonObject } from '../../json.js';
import type { AssistantPart, ToolCall } from '../../models/content-parts.js';
import { type AssistantMessage, type ToolMessage, toolMessage } from '../../models/messages.js';
import { requireOptions, requireWhole } from '../../operators/invalid-option.js';
import { readArguments } from '../../tools/read-arguments.js';
import { type Language, requireLanguage } from '../language.js';
import { type AgentMiddleware, defineMiddleware, type HookView, type RoundAnswer } from '../loop/middleware.js';

/** A call that may need a person's word. */
export interface CallToApprove {
  readonly id: string;
  /** The name of the tool, or of the agent as a tool. */
  readonly tool: string;
  /** What the model wrote, read; text that is no JSON stays text. */
  readonly arguments: Json;
}

/** What a person is asked. */
export interface ApprovalQuestion extends CallToApprove {
  readonly type: 'approval';
}

/** What a person answers. */
export interface ApprovalAnswer {
  readonly approved: boolean;
  /** Why not, for the model. */
  readonly reason?: string;
  /** Arguments in place of those of the model. */
  readonly arguments?: JsonObject;
}

/** See {@link approve}. */
export interface ApproveOptions {
  /** Unique among the middlewares of an agent. @default 'approve' */
  readonly name?: string;
  /** Milliseconds after which a call counts as declined. @default never */
  readonly expiresInMs?: number;
  /** Of what the model is told. @default 'en' */
  readonly language?: Language;
}

/**
 * Asks a person about calls before any call of the answer is made: those of the tools that are named, or those that a function picks. Agents as tools
 * are among them.
 *
 * All calls of one answer are asked about at once, each with the address `review#approve/<id of the call>` below the path of the agent. The question is an
 * {@link ApprovalQuestion}, its answer an {@link ApprovalAnswer}. A declined call gets a result that says so, and why; an edited one is made with the
 * new arguments, and stands so in the conversation. A function that throws asks about the call.
 *
 * It sees the answer as the middlewares before it in the list have made it: put it last. An agent that has none of the named tools, or one that is spelt
 * nearly so, is refused; for a list that several agents share use a function, which is compared with no tools.
 *
 * @throws EngineError OPTION_INVALID for something else than names or a function, and for options that cannot be used.
 */
export function approve(
  tools: readonly string[] | ((call: CallToApprove) => boolean),
  options: ApproveOptions = {},
): AgentMiddleware {
  requireOptions('approve', options, ['name', 'expiresInMs', 'language']);
  const { name = 'approve', expiresInMs, language = 'en' } = options;
  requireLanguage('approve', language);
  if (expiresInMs !== undefined) requireWhole('approve', 'expiresInMs', expiresInMs, 0);
  const needsPerson = readRule(tools);
  const ask = (call: CallToApprove, view: HookView): Interrupt => {
    const question: ApprovalQuestion = { type: 'approval', ...call };
    if (expiresInMs === undefined) return view.interrupt(question, { answer: ANSWER });
    const fallback: ApprovalAnswer = { approved: false, reason: TEXTS[language].late };
    return view.interrupt(question, { answer: ANSWER, expiresInMs, fallback });
  };
  return defineMiddleware<unknown>({
    name,
    holdsForHelpers: true,
    ...(typeof tools !== 'function' && { toolNames: [...tools] }),
    afterModel({ message, results }, view) {
      const done = new Set(results.map(({ toolCallId }) => toolCallId));
      const calls = uniqueCallIds(message.toolCalls ?? []);
      const asked = calls.filter((call) => !done.has(call.id) && needsPerson(readCall(call)));
      if (asked.length === 0) return undefined;
      const open = asked.filter(({ id }) => !view.answers.has(id));
      if (open.length > 0) {
        const parts = open.map((call): InterruptPart => ({ id: call.id, interrupt: ask(readCall(call), view) }));
        return view.interruptAll(parts);
      }
      const answers = new Map(asked.map(({ id }) => [id, view.answers.get(id) as ApprovalAnswer]));
      return decided({ message, results }, calls, answers, language);
    },
  });
}

const ANSWER = z.object({
  approved: z.boolean(),
  reason: z.string().optional(),
  arguments: z.record(z.string(), z.json()).optional(),
});

const TEXTS = {
  en: {
    declined: 'The call was declined by a person and not made. Do not make it again unless you are told to.',
    reason: (why: string) => ` The reason: ${why}`,
    late: 'No answer came in time.',
  },
  zh: {
    declined: '该调用被人工拒绝，没有执行。除非得到指示，否则不要再次调用。',
    reason: (why: string) => `原因：${why}`,
    late: '没有及时得到答复。',
  },
} as const;

function readRule(tools: unknown): (call: CallToApprove) => boolean {
  if (typeof tools === 'function') {
    const rule = tools as (call: CallToApprove) => boolean;
    return (call) => {
      try {
        return rule(call) !== false;
      } catch {
        // A rule that cannot read the arguments lets nothing through.
        return true;
      }
    };
  }
  if (Array.isArray(tools) && tools.every((one) => typeof one === 'string')) {
    const names: ReadonlySet<string> = new Set(tools);
    return ({ tool }) => names.has(tool);
  }
  throw new EngineError(
    'OPTION_INVALID',
    'approve: the first argument must be a list of names of tools, or a function of a call.',
  );
}

function readCall({ id, name, arguments: text }: ToolCall): CallToApprove {
  try {
    return { id, tool: name, arguments: readArguments(name, text) };
  } catch {
    return { id, tool: name, arguments: text };
  }
}

function decided(
  { message, results }: RoundAnswer,
  calls: readonly ToolCall[],
  answers: ReadonlyMap<string, ApprovalAnswer>,
  language: Language,
): RoundAnswer {
  const declined: ToolMessage[] = [];
  const made = calls.map((call): ToolCall => {
    const answer = answers.get(call.id);
    if (answer === undefined) return call;
    if (!answer.approved) {
      const { declined: said, reason } = TEXTS[language];
      const text = answer.reason === undefined ? said : said + reason(answer.reason);
      declined.push(toolMessage(text, call.id, { name: call.name, isError: true }));
      return call;
    }
    return answer.arguments === undefined ? call : { ...call, arguments: JSON.stringify(answer.arguments) };
  });
  return { message: withCalls(message, made), results: [...results, ...declined] };
}

/** Calls stand among the parts of a message as well, where it has parts. */
function withCalls(message: AssistantMessage, calls: readonly ToolCall[]): AssistantMessage {
  const { parts } = message;
  if (parts === undefined) return { ...message, toolCalls: calls };
  let next = 0;
  const changed = parts.map((part): AssistantPart => {
    if (part.type !== 'tool-call') return part;
    const call = calls[next];
    next += 1;
    return call === undefined ? part : { ...part, ...call };
  });
  return { ...message, toolCalls: calls, parts: changed };
}
