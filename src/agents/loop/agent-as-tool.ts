/** An agent as a tool of another one. */
import { invoke } from '../../compose/run.js';
import { defineTool } from '../../compose/tools/define-tool.js';
import { checkArguments, readToolInput, type ToolInput } from '../../compose/tools/tool-schema.js';
import type { JsonObject } from '../../json.js';
import type { ChatMessage } from '../../models/messages.js';
import { invalidOption, requireCallable, requireOptions, requireText } from '../../operators/invalid-option.js';
import { type Language, requireLanguage } from '../language.js';
import { AGENT_TOOL, type AgentAsTool, type AnyAgent, type CalledAgent, isAgent } from './agent-end.js';
import { messagesOf } from './agent-input.js';
import { AGENT_TEXTS } from './agent-texts.js';

/** How an agent is offered to models. */
export interface AgentToolOptions {
  /** @default the name of the agent */
  readonly name?: string;
  /** What it does and when to use it. @default the description of the agent */
  readonly description?: string;
  /**
   * What it is told. `request`: what the caller writes. `history`: the conversation of the caller before it. @default 'request'
   */
  readonly hears?: 'request' | 'history';
  /** What describes its arguments, with `question`. @default { request: text } */
  readonly input?: ToolInput;
  /** Of what models are told of its request. @default 'en' */
  readonly language?: Language;
  /** The question that arguments are. @default their `request` */
  readonly question?: (args: JsonObject) => string | readonly ChatMessage[];
}

/**
 * Makes a tool of an agent, for `tools` of other agents, and for `toolsNode`.
 *
 * Among the tools of an agent it is a part of that agent's graph: its steps have paths such as `lead/agents[0]/writer/model`, its questions are
 * answered there, a run that is recovered goes on inside it, and its events are events of the run. What it hands over stays inside, as does its
 * conversation; the caller gets its text. An error of its model is a result that says so.
 *
 * @throws EngineError OPTION_INVALID for a name that models cannot call, no description, and names that are no options.
 */
export function agentTool(agent: AnyAgent, options: AgentToolOptions = {}): AgentAsTool {
  if (!isAgent(agent)) throw invalidOption('agentTool', 'agent', 'what agent(…) gives', agent);
  const owner = `agentTool "${agent.name}"`;
  requireOptions(owner, options, ['name', 'description', 'hears', 'input', 'question', 'language']);
  const { name = agent.name, description = agent.description, hears = 'request', language = 'en' } = options;
  requireLanguage(owner, language);
  const { question = requestOf, input = requestInput(language) } = options;
  requireCallable(owner, 'question', options.question);
  requireText(owner, 'description', description, 'text that says what the agent is for; give it here or to the agent');
  const schema = readToolInput(owner, input);
  const called: CalledAgent = {
    agents: [agent],
    check: (args) => checkArguments(name, schema, args as JsonObject),
    messagesOf: (args, conversation) => {
      const asked = messagesOf(question(args as JsonObject), agent.name);
      return hears === 'history' ? [...spokenIn(conversation), ...asked] : asked;
    },
  };
  const tool = defineTool({
    name,
    description,
    input,
    run: (args, call) => invoke(agent, called.messagesOf(args as JsonObject, []), { within: call }),
  });
  return Object.freeze({ ...tool, [AGENT_TOOL]: called });
}

function requestInput(language: Language): JsonObject {
  const { request } = AGENT_TEXTS[language];
  return {
    type: 'object',
    properties: { request: { type: 'string', description: request } },
    required: ['request'],
  };
}

function requestOf({ request }: JsonObject): string {
  return typeof request === 'string' ? request : JSON.stringify(request ?? '');
}

/** What was said; calls and their results belong to tools that another agent does not have. */
export function spokenIn(conversation: readonly ChatMessage[]): readonly ChatMessage[] {
  return conversation.filter(
    (message) =>
      message.role === 'user' || (message.role === 'assistant' && message.content !== '' && !message.toolCalls?.length),
  );
}
