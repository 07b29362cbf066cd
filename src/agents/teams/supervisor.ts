/** An agent that gives others work, and gets it back. */
import { invalidOption } from '../../operators/invalid-option.js';
import { type Agent, type AnyAgent, isAgent } from '../loop/agent-end.js';
import { handoff } from './handoff.js';
import { requireMembers, requireTeam, type TeamOptions } from './team-options.js';

/** See {@link supervisor}. */
export interface SupervisorOptions<O> extends TeamOptions {
  /** Decides who works next, and answers at the end. */
  readonly lead: Agent<O>;
  /** Those that work; their descriptions tell the lead what they are for. */
  readonly agents: readonly AnyAgent[];
  /** Changes of the speaker in one turn, there and back; one more is LIMIT_REACHED. @default 40 */
  readonly maxHandoffs?: number;
}

/**
 * Makes a team in which one agent, the lead, hands work over to others. Each of them comes back to the lead with what it did, which is told to it
 * as context; only the lead answers for the team.
 *
 * ```text
 * lead     --h|      --A|     (h: hands over to writer)
 * writer      ---w|
 * team     ------------(A|)
 * ```
 *
 * In contrast to `agentTool`, an agent hears the whole conversation, and a user may speak to it while it works. A member cannot hand over to another one.
 *
 * Errors of a run: LIMIT_REACHED.
 *
 * @throws EngineError PLAN_INVALID, OPTION_INVALID for options that cannot be used.
 */
export function supervisor<O = string>(options: SupervisorOptions<O>): Agent<O> {
  const owner = requireTeam('supervisor', options, ['lead', 'agents', 'maxHandoffs']);
  const { name, description = '', lead, agents, maxHandoffs = 40 } = options;
  if (!isAgent(lead)) throw invalidOption(owner, 'lead', 'what agent(…) or agentFrom(…) gives', lead);
  requireMembers(owner, agents);
  const all = [lead, ...agents];
  requireMembers(owner, all);
  const members = agents.map((member) => member.name);
  return handoff<O>({
    name,
    description,
    agents: all as readonly Agent<O>[],
    to: { [lead.name]: members, ...Object.fromEntries(members.map((member) => [member, []])) },
    followedBy: Object.fromEntries(members.map((member) => [member, lead.name])),
    maxHandoffs,
  });
}
