/** What teams are made of, checked when they are made. */
import { requireName } from '../../compose/make-step.js';
import { EngineError } from '../../errors.js';
import { invalidOption, requireOptions } from '../../operators/invalid-option.js';
import { type AnyAgent, isAgent } from '../loop/agent-end.js';

/** What every team has. */
export interface TeamOptions {
  /** Part of paths and of events; what other agents call it by. */
  readonly name: string;
  /** What it does and when to ask it, for agents that may. @default none */
  readonly description?: string;
}

/** Members of a team; a team as large is no mistake yet. */
const MAX_MEMBERS = 1_000;

/**
 * Checks what every team has, and gives what messages about it begin with. `names` are those of its further options.
 *
 * @throws EngineError PLAN_INVALID for a name that no path could hold; OPTION_INVALID for what is no object of these options.
 */
export function requireTeam(kind: string, options: TeamOptions, names: readonly string[]): string {
  requireOptions(kind, options, ['name', 'description', ...names], 'an object with "name"');
  const { name, description = '' } = options;
  requireName('A team', name);
  const owner = `${kind} "${name}"`;
  if (typeof description !== 'string') throw invalidOption(owner, 'description', 'text', description);
  return owner;
}

/**
 * Refuses members that are no agents, none, or have equal names.
 *
 * @throws EngineError OPTION_INVALID
 */
export function requireMembers(owner: string, members: readonly AnyAgent[]): void {
  if (!Array.isArray(members) || members.length === 0 || members.length > MAX_MEMBERS) {
    throw invalidOption(owner, 'agents', `a list of 1 to ${MAX_MEMBERS} agents`, members);
  }
  const wrong = members.findIndex((member) => !isAgent(member));
  if (wrong >= 0) {
    throw invalidOption(owner, `agents[${wrong}]`, 'what agent(…), agentFrom(…) or a team gives', members[wrong]);
  }
  const double = members.find((member, at) => members.findIndex((other) => other.name === member.name) < at);
  if (double === undefined) return;
  throw new EngineError(
    'OPTION_INVALID',
    `${owner}: two agents are called "${double.name}". Agents of a team are told from each other by their names: give one another name.`,
  );
}
