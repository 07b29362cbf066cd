/** Agents that hand a conversation over to each other. */
import { EngineError } from '../../errors.js';
import { isJsonObject } from '../../json.js';
import { invalidOption, requireObject, requireWhole } from '../../operators/invalid-option.js';
import type { Agent, AnyAgent, HandoffTarget } from '../loop/agent-end.js';
import { sessionAt } from '../loop/session-values.js';
import { answerOfMember, type MemberEnd, type Move, type TeamState, teamLimit, teamOf } from './team-graph.js';
import { requireMembers, requireTeam, type TeamOptions } from './team-options.js';

/** See {@link handoff}. */
export interface HandoffOptions<O> extends TeamOptions {
  readonly agents: readonly Agent<O>[];
  /** Who begins. @default the first one */
  readonly start?: string;
  /** By name: whom an agent may hand over to. @default for those that are not named: everyone else */
  readonly to?: Readonly<Record<string, readonly string[]>>;
  /** By name: who speaks behind the answer of an agent, which then is not that of the team. @default no agent: an answer is that of the team */
  readonly followedBy?: Readonly<Record<string, string>>;
  /** Changes of the speaker in one turn; one more is LIMIT_REACHED. @default 20 */
  readonly maxHandoffs?: number;
  /** Whether the agent that spoke last begins the next turn of a session. @default false */
  readonly remembersSpeaker?: boolean;
}

/**
 * Makes a team whose agents decide themselves who goes on: each is offered a tool `transfer_to_<name>` for everyone that it may hand over to. The one
 * that answers, answers for the team.
 *
 * ```text
 * triage    --h|            (h: hands over to billing)
 * billing      ---B|
 * team      ------(B|)
 * ```
 *
 * What others said is told as context, with their calls and results, and never as the agent's own words. In one answer only the first handoff counts,
 * and other calls beside it are not made.
 *
 * ```ts
 * import { createScriptedModel, invoke } from 'runnel';
 * import { agent, handoff } from 'runnel/agents';
 *
 * const first = createScriptedModel({ default: { tool_calls: [{ name: 'transfer_to_billing' }] } });
 * const second = createScriptedModel({ default: { reply: 'It is paid.' } });
 * const desk = handoff({
 *   name: 'desk',
 *   agents: [
 *     agent({ name: 'triage', model: first }),
 *     agent({ name: 'billing', description: 'Knows invoices.', model: second }),
 *   ],
 *   to: { billing: [] },
 * });
 * console.log(await invoke(desk, 'Is my invoice paid?'));
 * // => It is paid.
 * ```
 *
 * Errors of a run: LIMIT_REACHED; HANDOFF_UNKNOWN when an agent written by hand names one that it may not hand over to.
 *
 * @throws EngineError PLAN_INVALID, OPTION_INVALID for options that cannot be used; HANDOFF_UNKNOWN for names that no agent has.
 */
export function handoff<O = string>(options: HandoffOptions<O>): Agent<O> {
  const owner = requireTeam('handoff', options, OPTIONS);
  const {
    name,
    description = '',
    agents,
    to = {},
    followedBy = {},
    maxHandoffs = 20,
    remembersSpeaker = false,
  } = options;
  requireMembers(owner, agents);
  const names = agents.map((member) => member.name);
  const { start = names[0] as string } = options;
  requireWhole(owner, 'maxHandoffs', maxHandoffs, 0);
  if (typeof remembersSpeaker !== 'boolean') {
    throw invalidOption(owner, 'remembersSpeaker', 'true or false', remembersSpeaker);
  }
  requireKnown(`${owner}: "start"`, [start], names);
  requireNamed(owner, 'to', to, names);
  requireNamed(owner, 'followedBy', followedBy, names);
  const targets = new Map(names.map((member) => [member, targetsOf(member, agents, to[member])]));
  const key = `${name}/speaker`;
  const over = (from: string, next: string, { begun }: TeamState): Move => {
    if (begun <= maxHandoffs) return { to: next };
    throw teamLimit(
      name,
      `"${from}" was about to hand over to "${next}" behind ${maxHandoffs} handoffs.`,
      'maxHandoffs',
    );
  };
  const spoken = (end: MemberEnd, team: TeamState): Move => {
    if (end.type === 'answered') {
      const next = Object.hasOwn(followedBy, end.agent) ? followedBy[end.agent] : undefined;
      return next === undefined ? answerOfMember(end) : over(end.agent, next, team);
    }
    const isInside = targets.get(end.agent)?.some((target) => target.name === end.to) === true;
    return isInside ? over(end.agent, end.to, team) : { handsOverTo: end.to };
  };
  return teamOf<O>({
    name,
    description,
    members: agents,
    handoffs: (member) => targets.get(member) ?? [],
    leaves: () => true,
    director: {
      first: (_, at) => {
        const last = remembersSpeaker ? sessionAt(at).values[key] : undefined;
        return { to: typeof last === 'string' && names.includes(last) ? last : start };
      },
      next: (end, team, at) => {
        const move = spoken(end, team);
        if (remembersSpeaker && !('to' in move)) sessionAt(at).set(key, end.agent);
        return move;
      },
    },
  });
}

const OPTIONS = ['agents', 'start', 'to', 'followedBy', 'maxHandoffs', 'remembersSpeaker'];

function targetsOf(
  member: string,
  agents: readonly AnyAgent[],
  named: readonly string[] | undefined,
): readonly HandoffTarget[] {
  return agents
    .filter((other) => (named === undefined ? other.name !== member : named.includes(other.name)))
    .map((other) => ({ name: other.name, description: other.description }));
}

function requireNamed(owner: string, option: 'to' | 'followedBy', given: object, names: readonly string[]): void {
  requireObject(owner, option, given, 'an object by names of agents');
  if (!isJsonObject(given)) return;
  for (const [member, value] of Object.entries(given)) {
    const listed: unknown = option === 'to' ? value : [value];
    if (!Array.isArray(listed)) throw invalidOption(owner, `${option}.${member}`, 'a list of names', value);
    requireKnown(`${owner}: "${option}"`, [member, ...listed], names);
  }
}

function requireKnown(owner: string, given: readonly unknown[], names: readonly string[]): void {
  const unknown = given.find((one) => typeof one !== 'string' || !names.includes(one));
  if (unknown === undefined) return;
  throw new EngineError(
    'HANDOFF_UNKNOWN',
    `${owner} names ${JSON.stringify(unknown)}, which no agent of the team is called. Its agents are ${names.map((one) => `"${one}"`).join(', ')}.`,
  );
}
