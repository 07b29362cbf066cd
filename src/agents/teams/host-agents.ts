/** An agent that asks specialists, and answers with what they say. */
import { EngineError } from '../../errors.js';
import { invalidOption, requireOptions } from '../../operators/invalid-option.js';
import { agent } from '../loop/agent.js';
import { agentTool } from '../loop/agent-as-tool.js';
import { type Agent, type AnyAgent, isAgent } from '../loop/agent-end.js';
import { AGENT_OPTIONS, type AgentOptions } from '../loop/agent-options.js';
import { rounds } from '../loop/stop-rules.js';

/** See {@link hostAgents}: options of the agent that asks, and whom it asks. */
export interface HostOptions<O>
  extends Omit<AgentOptions<O>, 'tools' | 'returnDirectly' | 'stopWhen' | 'whenStopped' | 'description'> {
  readonly description?: string;
  /** Who may be asked; each needs a description. */
  readonly agents: readonly AnyAgent[];
  /** Whether the host makes one answer of what they say. @default false: what they say is the answer, one below the other */
  readonly summary?: boolean;
}

/**
 * Makes an agent that asks one or several specialists, side by side, with the whole conversation, and answers with what they say, or with a summary
 * of it. A host that asks no specialist answers itself.
 *
 * ```text
 * host     --c|                (c: calls law and tax)
 * law         ---a|
 * tax         -----b|
 * answer   ---------(ab|)
 * ```
 *
 * @throws EngineError PLAN_INVALID, OPTION_INVALID for options that cannot be used.
 */
export function hostAgents<O = string>(options: HostOptions<O>): Agent<O> {
  requireOptions('hostAgents', options, OPTIONS, 'an object with "name" and "agents"');
  const { agents, summary = false, ...own } = options;
  const owner = `hostAgents "${String(own.name)}"`;
  if (!Array.isArray(agents) || agents.length === 0 || !agents.every(isAgent)) {
    throw invalidOption(owner, 'agents', 'a list of at least one agent', agents);
  }
  if (typeof summary !== 'boolean') throw invalidOption(owner, 'summary', 'true or false', summary);
  const silent = agents.find(({ description }) => description === '');
  if (silent !== undefined) {
    throw new EngineError(
      'OPTION_INVALID',
      `${owner}: agent "${silent.name}" has no "description". Say what it is for, so that the host knows when to ask it.`,
    );
  }
  const language = own.language === undefined ? {} : { language: own.language };
  return agent<O>({
    ...own,
    tools: agents.map((one) => agentTool(one, { hears: 'history', ...language })),
    ...(summary ? { stopWhen: [rounds(1)] } : { returnDirectly: agents.map(({ name }) => name) }),
  });
}

/** Whom it asks, and when it ends, is what it is made for. */
const NOT_OWN = ['tools', 'returnDirectly', 'stopWhen', 'whenStopped'];
const OPTIONS = [...AGENT_OPTIONS.filter((name) => !NOT_OWN.includes(name)), 'agents', 'summary'];
