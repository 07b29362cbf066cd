/** Agents side by side, on the same conversation. */
import { graph } from '../../compose/graph.js';
import type { NodeHandle } from '../../compose/handles.js';
import { show } from '../../compose/make-step.js';
import type { Step } from '../../compose/step.js';
import { EngineError } from '../../errors.js';
import { isJsonObject } from '../../json.js';
import { invalidOption, requireCallable } from '../../operators/invalid-option.js';
import { type Language, requireLanguage } from '../language.js';
import {
  AGENT,
  type Agent,
  type AgentEnd,
  type AgentShape,
  type AgentStart,
  type AnyAgent,
  agentOf,
  answerOf,
} from '../loop/agent-end.js';
import { messagesOf } from '../loop/agent-input.js';
import { AGENT_TEXTS } from '../loop/agent-texts.js';
import { wrongGiven } from '../loop/given.js';
import { spokenBy } from '../loop/heard-by.js';
import { requireMembers, requireTeam, type TeamOptions } from './team-options.js';

/** What one of several agents answered. */
export interface MemberAnswer {
  readonly agent: string;
  readonly text: string;
  readonly value: unknown;
}

/** See {@link parallelAgents}. */
export interface ParallelOptions extends TeamOptions {
  readonly agents: readonly AnyAgent[];
  /** Makes the text of the team, of the answers in the order of `agents`. @default each under the name of its agent */
  readonly combine?: (answers: readonly MemberAnswer[]) => string;
  /**
   * What happens when the model of an agent fails. `fail`: the others are stopped, and the run fails. `tell`: the answer says why, and the others
   * go on; the run fails only when all of them did. @default 'fail'
   */
  readonly failures?: 'fail' | 'tell';
  /** Of what stands in the text of the team for an answer that did not come. @default 'en' */
  readonly language?: Language;
}

/**
 * Makes a team whose agents work side by side. Each hears the conversation and none of the others. The text has what all of them answered, the value
 * is an object of their values by name.
 *
 * ```text
 * weather  --a|
 * traffic  -----b|
 * team     ------({ weather: a, traffic: b }|)
 * ```
 *
 * ```ts
 * import { createScriptedModel, invoke } from 'runnel';
 * import { agent, parallelAgents } from 'runnel/agents';
 *
 * const sunny = agent({ name: 'weather', model: createScriptedModel({ default: { reply: 'Sun.' } }) });
 * const calm = agent({ name: 'traffic', model: createScriptedModel({ default: { reply: 'Calm.' } }) });
 * console.log(await invoke(parallelAgents({ name: 'morning', agents: [sunny, calm] }), 'How is it?'));
 * // => { weather: 'Sun.', traffic: 'Calm.' }
 * ```
 *
 * What a user says while they work waits until they are done, unless it names one of them (`to`). Questions of several members may be answered one
 * by one, in any order.
 *
 * @throws EngineError PLAN_INVALID, OPTION_INVALID for options that cannot be used.
 */
export function parallelAgents(options: ParallelOptions): Agent<Readonly<Record<string, unknown>>> {
  const owner = requireTeam('parallelAgents', options, ['agents', 'combine', 'failures', 'language']);
  const { description = '', agents, combine, failures = 'fail' } = options;
  requireMembers(owner, agents);
  requireLanguage(owner, options.language ?? 'en');
  requireCallable(owner, 'combine', combine);
  if (failures !== 'fail' && failures !== 'tell') throw invalidOption(owner, 'failures', '"fail" or "tell"', failures);
  const draw = <R>(shape: AgentShape, last: (end: AgentEnd) => R): Step<unknown, R> =>
    parallelGraph(options, shape, last);
  return agentOf<Readonly<Record<string, unknown>>>(
    draw({}, answerOf) as Step<unknown, Readonly<Record<string, unknown>>>,
    description,
    // Of several that work at once none is the one that a user speaks to.
    { speakers: [], ended: (shape) => draw(shape, (end) => end) },
  );
}

function parallelGraph<R>(options: ParallelOptions, shape: AgentShape, last: (end: AgentEnd) => R): Step<unknown, R> {
  const { name, agents, failures = 'fail' } = options;
  const endsOnFailure = failures === 'tell' || shape.endsOnFailure === true;
  return graph<unknown, R>(name, (g) => {
    const open = g.node('team-open', (input: unknown, at): AgentStart => {
      at.emit('agent-started', { agent: name });
      return {
        messages: messagesOf(
          isJsonObject(input) && Array.isArray(input.messages) ? input.messages : input,
          at.path,
          name,
        ),
      };
    });
    g.edge(g.start, open);
    const parts: Record<string, NodeHandle<AgentStart, AgentEnd>> = {};
    for (const member of agents) {
      const node = g.node(member.name, member[AGENT].ended({ endsOnFailure }));
      g.edge(open, node);
      parts[member.name] = node;
    }
    const close = g.node('team-close', (ends: Readonly<Record<string, AgentEnd>>, at): R => {
      const end = joined(
        options,
        agents.map((member) => ends[member.name] as AgentEnd),
      );
      if (end.type === 'failed' && shape.endsOnFailure !== true) {
        throw new EngineError(end.error.code, end.error.message);
      }
      at.emit('agent-ended', { agent: name, type: end.type });
      return last(end);
    });
    g.join(parts, close as never);
    g.edge(close, g.end);
  });
}

/** The ends of the members as that of the team. */
function joined(options: ParallelOptions, ends: readonly AgentEnd[]): AgentEnd {
  const { name, combine = byName, failures, language = 'en' } = options;
  const texts = AGENT_TEXTS[language];
  const messages = ends.flatMap((end) => spokenBy(end.agent, end.messages));
  const failed = ends.find((end) => end.type === 'failed');
  const isAllowed = failures === 'tell' && ends.some((end) => end.type === 'answered');
  if (failed?.type === 'failed' && !isAllowed) return { type: 'failed', error: failed.error, agent: name, messages };
  const answers = ends.map((end): MemberAnswer & { readonly isAnswer: boolean } => {
    const { agent } = end;
    if (end.type === 'answered') return { agent, text: end.text, value: end.value, isAnswer: true };
    const why = end.type === 'failed' ? end.error.message : texts.handedTo(end.to);
    return { agent, text: texts.noAnswer(why), value: undefined, isAnswer: false };
  });
  const value = Object.fromEntries(answers.filter(({ isAnswer }) => isAnswer).map((one) => [one.agent, one.value]));
  const text: unknown = combine(answers.map(({ isAnswer: _, ...answer }) => answer));
  if (typeof text !== 'string') throw wrongGiven(`"combine" of parallelAgents "${name}"`, 'text', show(text));
  return { type: 'answered', reason: 'answered', text, value, agent: name, messages };
}

function byName(answers: readonly MemberAnswer[]): string {
  return answers.map(({ agent, text }) => `${agent}: ${text}`).join('\n\n');
}
