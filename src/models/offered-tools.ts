import type { ChatMessage, ChatRequest, ToolDefinition } from './chat-model.js';
import type { ToolOutputPart } from './content-parts.js';
import { refuseRequest } from './refuse-request.js';

/** What a request offers to a model. */
export interface OfferedTools {
  /** In the order of the request; `deferred` only where the provider knows it. */
  readonly tools: readonly ToolDefinition[];
  /** What the request says of the choice; undefined without tools, of which there is none then. */
  readonly choice: Exclude<ChatRequest['toolChoice'], undefined> | undefined;
}

/** What an API knows. */
export interface ToolAbilities {
  /** Whether it lets a model search for tools that are offered by name alone. */
  readonly defers: boolean;
  /** Whether its messages hold references to tools that a search found; else such tools are offered in full. */
  readonly refers: boolean;
  /** Whether it takes a list of allowed tools; for others only those are offered. */
  readonly allows: boolean;
}

/**
 * The tools of a request as an API can take them.
 *
 * A deferred tool is offered in full when the choice or a `tool-reference` of a message names it, else left to the search of the provider, or left
 * out where it has none.
 * @throws EngineError `MODEL_REQUEST` when the choice allows a tool that is not offered, or requires one of none.
 */
export function offeredTools(request: ChatRequest, { defers, refers, allows }: ToolAbilities): OfferedTools {
  const { tools = [], toolChoice, model } = request;
  const allowed = typeof toolChoice === 'object' && 'allowed' in toolChoice ? toolChoice : undefined;
  const unknown = allowed?.allowed.find((name) => tools.every((tool) => tool.name !== name));
  if (unknown !== undefined) {
    const names = tools.map(({ name }) => name).join(', ') || 'none';
    throw refuseRequest(
      model,
      `toolChoice allows the tool "${unknown}", which is not offered`,
      `Offered are: ${names}. Add it to tools.`,
    );
  }
  if (allowed?.mode === 'required' && allowed.allowed.length === 0) {
    throw refuseRequest(model, 'toolChoice requires a call of one of no tools', 'Name at least one tool in allowed.');
  }
  const named = new Set([...chosenTools(toolChoice), ...(refers ? [] : foundTools(request.messages))]);
  const offered = tools
    .filter(({ name }) => allows || allowed === undefined || allowed.allowed.includes(name))
    .filter(({ name, deferred }) => deferred !== true || defers || named.has(name))
    .map((tool) => (tool.deferred === true && named.has(tool.name) ? { ...tool, deferred: false } : tool));
  if (offered.length === 0) return { tools: offered, choice: undefined };
  return { tools: offered, choice: allowed !== undefined && !allows ? allowed.mode : toolChoice };
}

function chosenTools(choice: ChatRequest['toolChoice']): readonly string[] {
  if (typeof choice !== 'object') return [];
  return 'name' in choice ? [choice.name] : choice.allowed;
}

/** The tools that results of a search refer to. */
function foundTools(messages: readonly ChatMessage[]): readonly string[] {
  return messages.flatMap((message) => {
    if (message.role === 'tool') return referencesOf(message.parts);
    if (message.role === 'assistant' || typeof message.content === 'string') return [];
    return message.content.flatMap((part) => (part.type === 'tool-result' ? referencesOf(part.content) : []));
  });
}

function referencesOf(content: string | readonly ToolOutputPart[] = []): readonly string[] {
  if (typeof content === 'string') return [];
  return content.flatMap((part) => (part.type === 'tool-reference' ? [part.name] : []));
}
