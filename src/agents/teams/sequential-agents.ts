/** Agents one after the other, each on what those before it said. */
import type { Agent, AnyAgent } from '../loop/agent-end.js';
import { answerOfMember, teamOf } from './team-graph.js';
import { requireMembers, requireTeam, type TeamOptions } from './team-options.js';

/** See {@link sequentialAgents}. */
export interface SequentialOptions<O> extends TeamOptions {
  /** In their order; the answer of the last one is that of the team. */
  readonly agents: readonly [...(readonly AnyAgent[]), Agent<O>];
}

/**
 * Makes a team whose agents work one after the other. Each hears the conversation, and what those before it did, told as context.
 *
 * ```text
 * writer   --W|
 * critic      --C|
 * team     -----(C|)
 * ```
 *
 * ```ts
 * import { createScriptedModel, invoke } from 'runnel';
 * import { agent, sequentialAgents } from 'runnel/agents';
 *
 * const model = createScriptedModel({
 *   rules: [
 *     { when: { user: 'from the agent "writer"' }, reply: 'Shorter, please.' },
 *     { when: {}, reply: 'A long poem.' },
 *   ],
 * });
 * const desk = sequentialAgents({
 *   name: 'desk',
 *   agents: [agent({ name: 'writer', model }), agent({ name: 'critic', model })],
 * });
 * console.log(await invoke(desk, 'Write a poem.'));
 * // => Shorter, please.
 * ```
 *
 * As a member of a `handoff` team, its last agent may hand over.
 *
 * @throws EngineError PLAN_INVALID, OPTION_INVALID for options that cannot be used.
 */
export function sequentialAgents<O = string>(options: SequentialOptions<O>): Agent<O> {
  const owner = requireTeam('sequentialAgents', options, ['agents']);
  const { name, description = '', agents } = options;
  requireMembers(owner, agents);
  const names = agents.map((member) => member.name);
  return teamOf<O>({
    name,
    description,
    members: agents,
    leaves: (member) => member === names.at(-1),
    director: {
      first: () => ({ to: names[0] as string }),
      next: (end) => {
        const next = names[names.indexOf(end.agent) + 1];
        return next === undefined ? answerOfMember(end) : { to: next };
      },
    },
  });
}
