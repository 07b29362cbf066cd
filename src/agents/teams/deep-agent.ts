/** An agent for long work: it keeps a list, and gives pieces of the work to agents that begin afresh. */
import { invalidOption, requireOptions } from '../../operators/invalid-option.js';
import { requireLanguage } from '../language.js';
import { agent } from '../loop/agent.js';
import type { Agent, AnyAgent } from '../loop/agent-end.js';
import { AGENT_OPTIONS, type AgentOptions } from '../loop/agent-options.js';
import { rounds } from '../loop/stop-rules.js';
import { subAgents } from '../middleware/sub-agents.js';
import { todos } from '../middleware/todos.js';

/** See {@link deepAgent}: options of an agent, and whom it may give work. */
export interface DeepAgentOptions<O> extends AgentOptions<O> {
  /** Who may be given work beside the agent `general`; each needs a description. @default none */
  readonly agents?: readonly AnyAgent[];
  /** Whether there is an agent `general` for work that no other agent is made for. @default true */
  readonly generalAgent?: boolean;
  /** Whether it keeps a list of things to do, and `general` one of its own. @default true */
  readonly keepsTodos?: boolean;
}

/**
 * Makes an agent for work of many steps: it keeps a list of things to do (`todos`), and gives pieces of the work to other agents (`subAgents`), one or
 * several at once. They begin with what it writes them and nothing else, so that what they read on the way does not fill its own conversation.
 *
 * ```text
 * deep      --c|                  --A|   (c: gives general and law work)
 * general      ---g|
 * law          -----l|
 * answer    ------------------------(A|)
 * ```
 *
 * The agent `general` has its model, tools, middlewares, retries, limits and stop rules, and no agents. So what `approve` or a guard holds for one of
 * them holds for the other. Its answers are text, whatever `output` is.
 *
 * ```ts
 * import { createScriptedModel, invoke } from 'runnel';
 * import { deepAgent } from 'runnel/agents';
 *
 * const model = createScriptedModel({
 *   rules: [
 *     { when: { user: 'Compare' }, tool_calls: [{ name: 'delegate', arguments: { request: 'Count them.' } }], times: 1 },
 *     { when: { user: 'Count' }, reply: 'Seven bridges.' },
 *   ],
 *   default: { reply: 'One has seven bridges.' },
 * });
 * console.log(await invoke(deepAgent({ name: 'deep', model }), 'Compare two cities.'));
 * // => One has seven bridges.
 * ```
 *
 * `stopWhen` is [rounds(50)] unless it is given. Errors of a run are those of `agent`.
 *
 * @throws EngineError PLAN_INVALID, OPTION_INVALID for options that cannot be used.
 */
export function deepAgent<O = string>(options: DeepAgentOptions<O>): Agent<O> {
  requireOptions('deepAgent', options, OPTIONS, 'an object with "name"');
  const { agents = [], generalAgent = true, keepsTodos = true, language = 'en', ...own } = options;
  const owner = `deepAgent "${String(own.name)}"`;
  requireFlag(owner, 'generalAgent', generalAgent);
  requireFlag(owner, 'keepsTodos', keepsTodos);
  requireLanguage(owner, language);
  const texts = TEXTS[language];
  const { instructions = '', use = [], stopWhen = [rounds(50)] } = own;
  const told = (...parts: readonly string[]): Instructions => {
    const base = parts.join('\n\n');
    if (typeof instructions === 'function') {
      return (view) => [base, instructions(view)].filter((text) => text !== '').join('\n\n');
    }
    // What is neither is refused by the agent.
    if (typeof instructions !== 'string') return instructions;
    return instructions === '' ? base : `${base}\n\n${instructions}`;
  };
  const shared = {
    ...own,
    language,
    stopWhen,
    use: keepsTodos && Array.isArray(use) ? [todos({ language }), ...use] : use,
  };
  const hasHelpers = generalAgent || !Array.isArray(agents) || agents.length > 0;
  if (!hasHelpers) return agent<O>({ ...shared, instructions: told(texts.work) });
  // Its answer is for another model, so it has no form and is not kept.
  const { output: _form, repairs: _repairs, outputKey: _key, returnDirectly: _direct, ...rest } = shared;
  const general = generalAgent && {
    ...rest,
    name: 'general',
    description: texts.general,
    instructions: told(texts.work),
  };
  return agent<O>({
    ...shared,
    instructions: told(texts.work, texts.agents),
    use: Array.isArray(shared.use) ? [subAgents({ agents, general, language }), ...shared.use] : shared.use,
  });
}

const OPTIONS = [...AGENT_OPTIONS, 'agents', 'generalAgent', 'keepsTodos'];

type Instructions = NonNullable<AgentOptions['instructions']>;

function requireFlag(owner: string, option: string, value: unknown): void {
  if (typeof value !== 'boolean') throw invalidOption(owner, option, 'true or false', value);
}

const TEXTS = {
  en: {
    work: 'You do work that takes many steps. Find out first what is wanted and what is there, do one piece after the other, and check what came of it before you answer. When something fails, look for another way before you give up; say openly what you could not do.',
    agents:
      'Give other agents pieces of work that stand for themselves, above all those that need much reading for a short result; do small things yourself. An agent knows nothing of this conversation: write it the goal, all that it has to know, and what it should give back. Give work to several in one answer when none of them needs what another one finds. Only you read what they answer, so put into your own answer what matters of it.',
    general:
      'Does a piece of work by itself, with the same tools as you: searching, reading, working through many steps. For work that no other agent is made for.',
  },
  zh: {
    work: '你负责需要许多步骤的工作。先弄清楚需求和现有条件，再逐项完成，并在回答之前检查结果。遇到失败时，先寻找其他办法再放弃；没能做到的事要如实说明。',
    agents:
      '请把能够独立完成的工作交给其他智能体，尤其是需要大量阅读而结果简短的工作；小事自己做。智能体不了解本次对话：请写明目标、它需要知道的一切以及应当返回的内容。如果各项工作互不依赖，请在一次回答中同时交给多个智能体。它们的回答只有你能看到，请把其中重要的内容写进你自己的回答。',
    general: '独立完成一项工作，拥有与你相同的工具：搜索、阅读、处理多个步骤。用于没有专门智能体的工作。',
  },
} as const;
