/** An answer that is given on while the model says it: for rounds behind whose text no call can follow. */
import { concatMap, defer, identity, type MonoTypeOperatorFunction, map, of } from 'rxjs';
import type { PrefixChooser } from '../../compose/branch.js';
import type { Step, StepActivation } from '../../compose/step.js';
import { operator } from '../../compose/steps.js';
import { EngineError } from '../../errors.js';
import type { Json } from '../../json.js';
import type { AssistantMessage } from '../../models/messages.js';
import { goOnWith } from '../../operators/go-on-with.js';
import type { AgentInGraph } from './agent-in-graph.js';
import type { AgentSetup } from './agent-options.js';
import { joinAnswer } from './ask-model.js';
import { backgroundRules } from './background-state.js';
import { loopAt } from './loop-state.js';
import { sessionAt } from './session-values.js';

/** On the chunk from which on the text of a round is the answer; no reader of messages sees it. */
const ANSWERS: unique symbol = Symbol('answers');

/**
 * Marks the chunk from which on it is certain that a round gives the answer: the first one where nothing is offered that could be called, else the
 * first text where the agent is told that text is the answer. What follows a call is not marked.
 */
export function markAnswer({ answerFrom }: AgentSetup, tools: number): MonoTypeOperatorFunction<AssistantMessage> {
  if (tools > 0 && answerFrom === 'end') return identity;
  return (source) =>
    defer(() => {
      let isDecided = false;
      return source.pipe(
        map((chunk) => {
          if (isDecided || (tools > 0 && !isText(chunk) && !isCall(chunk))) return chunk;
          isDecided = true;
          return tools > 0 && isCall(chunk) ? chunk : Object.defineProperty({ ...chunk }, ANSWERS, { value: true });
        }),
      );
    });
}

function isText({ content }: AssistantMessage): boolean {
  return content.trim() !== '';
}

function isCall({ toolCalls = [] }: AssistantMessage): boolean {
  return toolCalls.length > 0;
}

/**
 * Whether answers of an agent are given on before they are whole: where it has nothing that could be called, or is told that text is the answer. Not
 * where something may still change an answer, or take back what was said: a form of the answer, hooks around or behind the model, further tries, and
 * models that stand in.
 */
export function canAnswerLive({ tools, brought, answerFrom, output, use, retry, failover }: AgentSetup): boolean {
  if (answerFrom === 'end' && tools.length + brought.length > 0) return false;
  const isUntouched = use.every(
    ({ wrapModel, afterModel, afterAgent }) =>
      wrapModel === undefined && afterModel === undefined && afterAgent === undefined,
  );
  const hasBackground = backgroundRules(use) !== undefined;
  return isUntouched && !hasBackground && output === undefined && retry === undefined && failover.length === 0;
}

/**
 * Where the answer of a round goes: to `say` as soon as its text is the answer for certain, else to `review`, which looks at the whole.
 *
 * ```text
 * no tools offered      a--b--c|           tools offered          a--b--call|
 * chosen                say                chosen                 review
 *
 * answerFrom: 'text'    thought--a--b|     answerFrom: 'text'     call--|
 * chosen                ---------say       chosen                 review
 * ```
 */
export function sayOrReview(setup: AgentSetup): PrefixChooser<AssistantMessage, 'say' | 'review'> {
  return (chunks, isLast) => {
    const newest = chunks.at(-1);
    if (newest !== undefined && ANSWERS in newest) return 'say';
    const canFollow = setup.answerFrom === 'text' && !isLast && newest !== undefined;
    return canFollow && !isText(newest) && !isCall(newest) ? undefined : 'review';
  };
}

/**
 * Gives the text of an answer as it comes, and puts the answer into the conversation at its end.
 *
 * Errors: MODEL_RESPONSE when a tool is called behind text that has been given on, which `answerFrom: 'text'` says cannot happen.
 */
export function sayStep({ setup, offered }: AgentInGraph): Step<AssistantMessage, string> {
  return operator<AssistantMessage, string>('say', (chunks$, at) => {
    return defer(() => {
      const said: AssistantMessage[] = [];
      return chunks$.pipe(
        concatMap((chunk): readonly string[] => {
          const [call] = chunk.toolCalls ?? [];
          if (call !== undefined && offered.length > 0 && loopAt(at).value.spent === '')
            throw calledLate(setup, call.name);
          said.push(chunk);
          // Its reader gets text alone; the events of the run have the rest.
          if (chunk.reasoning !== undefined && chunk.reasoning !== '') at.emit('reasoning', { text: chunk.reasoning });
          return chunk.content === '' ? [] : [chunk.content];
        }),
        goOnWith((end) => {
          if (end !== undefined) throw end.error;
          const answer = joinAnswer(said);
          keep(setup, answer, at);
          return answer.content === '' ? of('') : undefined;
        }),
      );
    });
  });
}

function keep({ name, outputKey }: AgentSetup, message: AssistantMessage, at: StepActivation): void {
  const { toolCalls: _, ...answer } = message;
  loopAt(at).append('messages', answer);
  if (outputKey !== undefined) sessionAt(at).set(outputKey, answer.content as Json);
  at.emit('agent-ended', { agent: name, type: 'answered' });
}

function calledLate({ name }: AgentSetup, tool: string): EngineError {
  return new EngineError(
    'MODEL_RESPONSE',
    `Agent "${name}" had begun its answer when its model called "${tool}". Make it with answerFrom: 'end', which waits until no call can follow.`,
  );
}
