/** Agents that a model gives work to. */
import { invoke } from '../../compose/run.js';
import { defineTool, requireToolName } from '../../compose/tools/define-tool.js';
import { EngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import { didYouMean } from '../../nearest-name.js';
import { invalidOption, requireList, requireOptions } from '../../operators/invalid-option.js';
import { type Language, requireLanguage } from '../language.js';
import { agent } from '../loop/agent.js';
import { spokenIn } from '../loop/agent-as-tool.js';
import { AGENT_TOOL, type AgentAsTool, type AnyAgent, type CalledAgent, isAgent } from '../loop/agent-end.js';
import type { AgentOptions } from '../loop/agent-options.js';
import { type AgentBasis, type AgentMiddleware, defineMiddleware } from '../loop/middleware.js';

/** See {@link subAgents}. */
export interface SubAgentsOptions {
  /** Who may be given work; each with a description. @default none beside `general` */
  readonly agents?: readonly AnyAgent[];
  /**
   * One for everything: of the model and the tools of the agent that gives the work, with the middlewares that hold for helpers (`approve`, the guards, and
   * yours with `holdsForHelpers`), but for what is said here. `false`: there is none.
   * @default { name: 'general' }
   */
  readonly general?: false | Partial<AgentOptions>;
  /** What the model calls it. @default 'delegate' */
  readonly tool?: string;
  /** What they are told. `request`: what the model writes. `history`: the conversation before it, too. @default 'request' */
  readonly hears?: 'request' | 'history';
  /** Unique among the middlewares of an agent. @default 'subAgents' */
  readonly name?: string;
  /** Of what models are told. @default 'en' */
  readonly language?: Language;
}

/**
 * Lets the model give work to other agents: one tool with the choice of an agent and a request. Calls of one answer work side by side.
 *
 * ```ts
 * import { createScriptedModel, invoke } from 'runnel';
 * import { agent, agentFrom, subAgents } from 'runnel/agents';
 *
 * const counter = agentFrom({ name: 'counter', description: 'Counts.', run: ([asked]) => `${asked?.content.length} letters` });
 * const model = createScriptedModel({
 *   rules: [{ when: {}, tool_calls: [{ name: 'delegate', arguments: { agent: 'counter', request: 'Bridge' } }], times: 1 }],
 *   default: { reply: 'It has 6 letters.' },
 * });
 * console.log(await invoke(agent({ name: 'lead', model, use: [subAgents({ agents: [counter] })] }), 'How long is "Bridge"?'));
 * // => It has 6 letters.
 * ```
 *
 * A call is a part of the graph of the agent, as with `agentTool`: steps have paths such as `lead/agents[0]/counter/model`, questions are answered
 * there, a run that is recovered goes on inside, and events are events of the run. An agent that is not there, and a request that is none, are results
 * that say so. The general agent has neither the middlewares of the one that gives the work nor this tool, so that work is not handed on for ever.
 *
 * @throws EngineError OPTION_INVALID without an agent, for two of one name, one without a description, and options that cannot be used.
 */
export function subAgents(options: SubAgentsOptions = {}): AgentMiddleware {
  requireOptions('subAgents', options, ['agents', 'general', 'tool', 'hears', 'name', 'language']);
  const { agents = [], general = {}, tool = 'delegate', hears = 'request', name = 'subAgents' } = options;
  const { language = 'en' } = options;
  requireLanguage('subAgents', language);
  requireToolName('subAgents', tool);
  if (hears !== 'request' && hears !== 'history') {
    throw invalidOption('subAgents', 'hears', '"request" or "history"', hears);
  }
  if (typeof general !== 'object' && general !== false) {
    throw invalidOption('subAgents', 'general', 'options of an agent, or false', general);
  }
  requireAgents(agents, general);
  return defineMiddleware<unknown>({
    name,
    tools: (basis) => {
      const all = general === false ? agents : [...agents, generalAgent(basis, general, language)];
      return [delegate(all, { tool, hears, language, general: general !== false })];
    },
  });
}

const GENERAL = 'general';

const TEXTS = {
  en: {
    tool: 'Gives work to another agent, which does it and reports. It sees nothing but your request, and you see nothing but its report. Give independent pieces of work in one message: they are done side by side. The agents are:',
    hears:
      'Gives work to another agent, which knows this conversation, does the work and reports. Give independent pieces of work in one message: they are done side by side. The agents are:',
    agent: 'Name of the agent.',
    request: 'What it has to do, with everything that it needs to know, and what it has to report.',
    general: 'For every kind of work that none of the others is for.',
    instructions:
      'You are given a piece of work by another agent. Do all of it, and report the result: what you say last is all that it sees.',
    missing: (name: string) => `There is no agent "${name}".`,
    known: (names: string) => ` The agents are: ${names}.`,
    empty: 'The request is empty. Write what the agent has to do.',
  },
  zh: {
    tool: '把工作交给另一个智能体，由它完成并汇报。它只看得到你的请求，你只看得到它的汇报。相互独立的工作请放在同一条消息里，它们会并行完成。智能体有：',
    hears:
      '把工作交给另一个智能体，它了解本次对话，会完成工作并汇报。相互独立的工作请放在同一条消息里，它们会并行完成。智能体有：',
    agent: '智能体的名称。',
    request: '它要做什么、需要知道的一切，以及要汇报什么。',
    general: '适用于其他智能体都不负责的各类工作。',
    instructions: '另一个智能体交给你一项工作。请全部完成并汇报结果：它只能看到你最后说的内容。',
    missing: (name: string) => `没有名为“${name}”的智能体。`,
    known: (names: string) => `智能体有：${names}。`,
    empty: '请求为空。请写明智能体要做什么。',
  },
} as const;

function requireAgents(agents: readonly AnyAgent[], general: false | Partial<AgentOptions>): void {
  requireList('subAgents', 'agents', agents, 'a list of agents');
  const wrong = agents.findIndex((one: unknown) => !isAgent(one));
  if (wrong >= 0)
    throw invalidOption('subAgents', `agents[${wrong}]`, 'what agent(…), agentFrom(…) or a team gives', agents[wrong]);
  if (agents.length === 0 && general === false) {
    throw invalidOption('subAgents', 'agents', 'at least one agent, where there is no general one', agents);
  }
  const silent = agents.find(({ description }) => description === '');
  if (silent !== undefined) {
    throw new EngineError(
      'OPTION_INVALID',
      `subAgents: agent "${silent.name}" has no "description". Say what it is for, so that the model knows when to give it work.`,
    );
  }
  const names = [...agents.map(({ name }) => name), ...(general === false ? [] : [general.name ?? GENERAL])];
  const double = names.find((name, at) => names.indexOf(name) < at);
  if (double === undefined) return;
  throw new EngineError('OPTION_INVALID', `subAgents: two agents are called "${double}". Give one another name.`);
}

function generalAgent(basis: AgentBasis, general: Partial<AgentOptions>, language: Language): AnyAgent {
  const texts = TEXTS[language];
  const own = { name: GENERAL, description: texts.general, instructions: texts.instructions };
  return agent({ ...basis, language, ...own, ...general });
}

interface DelegateOptions {
  readonly tool: string;
  readonly hears: 'request' | 'history';
  readonly language: Language;
  /** Whether the last agent is chosen where none is named. */
  readonly general: boolean;
}

/** The tool. */
function delegate(agents: readonly AnyAgent[], { tool, hears, language, general }: DelegateOptions): AgentAsTool {
  const texts = TEXTS[language];
  const names = agents.map(({ name }) => name);
  const choose: CalledAgent['choose'] & object = ({ agent: chosen }) =>
    chosen === undefined && general ? (names.at(-1) as string) : String(chosen ?? '');
  const called: CalledAgent = {
    agents,
    choose,
    check: (args) => {
      const chosen = choose(args);
      if (!names.includes(chosen)) {
        const text = `${texts.missing(chosen)}${texts.known(names.join(', '))}${didYouMean(chosen, names)}`;
        throw new EngineError('TOOL_ARGUMENTS', text);
      }
      if (typeof args.request !== 'string' || args.request.trim() === '') {
        throw new EngineError('TOOL_ARGUMENTS', texts.empty);
      }
    },
    messagesOf: ({ request }, conversation) => [
      ...(hears === 'history' ? spokenIn(conversation) : []),
      { role: 'user', content: String(request) },
    ],
  };
  const list = agents.map(({ name, description }) => `- ${name}: ${description.replace(/\s+/g, ' ').trim()}`);
  const made = defineTool({
    name: tool,
    description: [hears === 'history' ? texts.hears : texts.tool, ...list].join('\n'),
    input: inputOf(names, general, language),
    run: (args, call) => {
      called.check(args);
      const chosen = agents.find(({ name }) => name === choose(args)) as AnyAgent;
      return invoke(chosen, called.messagesOf(args, []), { within: call });
    },
  });
  return Object.freeze({ ...made, [AGENT_TOOL]: called });
}

function inputOf(names: readonly string[], general: boolean, language: Language): JsonObject {
  const { agent: chosen, request } = TEXTS[language];
  return {
    type: 'object',
    properties: {
      agent: {
        type: 'string',
        enum: [...names],
        description: chosen,
        ...(general && { default: names.at(-1) as string }),
      },
      request: { type: 'string', description: request },
    },
    required: general ? ['request'] : ['agent', 'request'],
  };
}
