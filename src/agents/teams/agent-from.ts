/** Agents written by hand: a function or a step from a conversation to an answer. */
import { catchError, isObservable, of } from 'rxjs';
import { isThenable } from '../../compose/engine/later.js';
import { graph } from '../../compose/graph.js';
import { isStep, requireName } from '../../compose/make-step.js';
import type { Step, StepActivation, StepLike } from '../../compose/step.js';
import { EngineError, toEngineError } from '../../errors.js';
import { type ErrorInfo, infoOf } from '../../graph/events.js';
import { isJsonObject } from '../../json.js';
import type { AssistantMessage, ChatMessage } from '../../models/messages.js';
import { invalidOption, receivedOf, requireOptions } from '../../operators/invalid-option.js';
import { type Language, requireLanguage } from '../language.js';
import {
  type Agent,
  type AgentEnd,
  type AgentShape,
  agentOf,
  answerOf,
  type HandoffTarget,
} from '../loop/agent-end.js';
import { messagesOf } from '../loop/agent-input.js';
import type { Speaker } from '../loop/agent-view.js';
import { asHeardBy } from '../loop/heard-by.js';

/** What an agent written by hand gives beside text and messages. */
export type AgentReply<O = unknown> =
  | {
      readonly text: string;
      /** The answer in a form of its own. @default the text */
      readonly value?: O;
      /** What it adds to the conversation. @default its text */
      readonly messages?: readonly ChatMessage[];
    }
  | {
      /** Name of the agent that goes on; it must be one that this agent may hand over to. */
      readonly handOver: string;
      /** What is said before. @default nothing */
      readonly text?: string;
    };

/** See {@link agentFrom}. */
export interface AgentFromOptions<O> {
  /** Part of paths and of events; what other agents call it by. */
  readonly name: string;
  /** What it does and when to ask it, for agents that may. @default none */
  readonly description?: string;
  /** In which it is told what other agents said. @default 'en' */
  readonly language?: Language;
  /** From the conversation, as this agent hears it, to its answer: a function, also one that asks a person, or a step. */
  readonly run: StepLike<readonly ChatMessage[], string | AssistantMessage | AgentReply<O>>;
}

/**
 * Makes an agent of a function or a step, which takes part in teams, as a tool and in conversations like every other one.
 *
 * ```ts
 * import { invoke } from 'runnel';
 * import { agentFrom, sequentialAgents } from 'runnel/agents';
 *
 * const count = agentFrom({ name: 'count', run: (messages) => `${messages.length}` });
 * const double = agentFrom({ name: 'double', run: (messages) => ({ text: 'Done.', value: messages.length * 2 }) });
 * console.log(await invoke(sequentialAgents({ name: 'both', agents: [count, double] }), 'Hello.'));
 * // => 4
 * ```
 *
 * It may ask with `at.interrupt`, as every step. Called as a tool, a function that throws gives a result that says why; a step that fails ends the run.
 *
 * Errors of a run: OUTPUT_INVALID for what is no answer; HANDOFF_UNKNOWN for an agent that it may not hand over to.
 *
 * @throws EngineError PLAN_INVALID, OPTION_INVALID for options that cannot be used.
 */
export function agentFrom<O = string>(options: AgentFromOptions<O>): Agent<O> {
  requireOptions('agentFrom', options, ['name', 'description', 'language', 'run'], 'an object with "name" and "run"');
  const { name, description = '', language = 'en', run } = options;
  requireName('An agent', name);
  requireLanguage(`agentFrom "${name}"`, language);
  if (typeof run !== 'function' && !isStep(run)) {
    throw invalidOption(`agentFrom "${name}"`, 'run', 'a function or a step', run);
  }
  const draw = <R>(shape: AgentShape, last: (end: AgentEnd) => R): Step<unknown, R> =>
    handGraph({ name, language, run: run as Run }, shape, last);
  return agentOf<O>(draw({}, answerOf) as Step<unknown, O>, description, {
    speakers: [],
    ended: (shape) => draw(shape, (end) => end),
  });
}

type Run = StepLike<readonly ChatMessage[], unknown>;

function handGraph<R>(
  { name, language, run }: Speaker & { readonly run: Run },
  shape: AgentShape,
  last: (end: AgentEnd) => R,
): Step<unknown, R> {
  return graph<unknown, R>(name, (g) => {
    const begin = g.node('begin', (input: unknown, at) => {
      at.emit('agent-started', { agent: name });
      const asked = isJsonObject(input) && Array.isArray(input.messages) ? input.messages : input;
      return asHeardBy(name, messagesOf(asked, at.path, name), language);
    });
    const work = g.node('run', shape.endsOnFailure === true ? caught(run) : run);
    const result = g.node('result', (reply: unknown, at) => {
      const end = endOf(name, reply, shape);
      at.emit('agent-ended', { agent: name, type: end.type });
      return last(end);
    });
    g.edge(g.start, begin);
    g.edge(begin, work);
    g.edge(work, result);
    g.edge(result, g.end);
  });
}

/** A function whose failure is a value. A question that waits, and a stop, are none. */
function caught(run: Run): Run {
  if (typeof run !== 'function') return run;
  return (messages: readonly ChatMessage[], at: StepActivation): unknown => {
    const failed = (error: unknown): { readonly failed: ErrorInfo } => {
      if (at.signal.aborted || (EngineError.is(error) && error.code === 'RUN_INTERRUPTED')) throw error;
      return { failed: infoOf(toEngineError(error, 'NODE_FAILED')) };
    };
    try {
      const given: unknown = run(messages, at);
      if (isObservable(given)) return given.pipe(catchError((error: unknown) => of(failed(error))));
      return isThenable(given) ? given.then(undefined, failed) : given;
    } catch (error) {
      return failed(error);
    }
  };
}

/** What was given as the end of an agent. */
function endOf(name: string, reply: unknown, { handoffs = [] }: AgentShape): AgentEnd {
  if (typeof reply === 'string') return answered(name, reply, reply, [{ role: 'assistant', content: reply }]);
  if (isJsonObject(reply)) {
    const { failed, role, content, text = content, value = text, handOver } = reply;
    if (isJsonObject(failed)) {
      return { type: 'failed', error: failed as unknown as ErrorInfo, agent: name, messages: [] };
    }
    const said: ChatMessage[] = typeof text === 'string' && text !== '' ? [{ role: 'assistant', content: text }] : [];
    if (typeof handOver === 'string') {
      if (!handoffs.some((target) => target.name === handOver)) throw unknownHandoff(name, handOver, handoffs);
      return { type: 'handed-over', to: handOver, agent: name, messages: said };
    }
    if (role === 'assistant' && typeof content === 'string') {
      return answered(name, content, content, [reply as unknown as AssistantMessage]);
    }
    if (typeof text === 'string') {
      const { messages = said } = reply as { readonly messages?: readonly ChatMessage[] };
      return answered(name, text, value, messagesOrNone(messages, name));
    }
  }
  throw new EngineError(
    'OUTPUT_INVALID',
    `Agent "${name}" gave ${receivedOf(reply)}. Give text, a message of an assistant, { text, value } or { handOver }.`,
  );
}

function answered(name: string, text: string, value: unknown, messages: readonly ChatMessage[]): AgentEnd {
  return { type: 'answered', reason: 'answered', text, value, agent: name, messages };
}

function messagesOrNone(messages: readonly ChatMessage[], name: string): readonly ChatMessage[] {
  return Array.isArray(messages) && messages.length === 0 ? [] : messagesOf(messages, name);
}

function unknownHandoff(name: string, to: string, handoffs: readonly HandoffTarget[]): EngineError {
  const names = handoffs.map((target) => `"${target.name}"`).join(', ');
  const whom = names === '' ? 'It may hand over to no other agent here.' : `It may hand over to ${names}.`;
  return new EngineError('HANDOFF_UNKNOWN', `Agent "${name}" was about to hand over to "${to}". ${whom}`);
}
