import type { Observable } from 'rxjs';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { ToolDefinition } from '../models/chat-model.js';
import { requireMethods, requireObject } from '../operators/invalid-option.js';
import { callTool, definitionOf, type FunctionOptions } from '../tools/call-tool.js';
import { searchOutputs } from '../tools/results.js';
import type { AnyTool, ToolCall, ToolEvent } from '../tools/tool.js';
import type { TraceContext } from '../trace-context.js';
import type { AgentState, AgentStateEvent, InnerEvent } from './agent-events.js';

/** Events of a call, for the agent that made it. */
export type AgentToolEvent = ToolEvent | AgentStateEvent | { readonly type: 'inner'; readonly event: InnerEvent };

/** One call of a tool of an agent. */
export interface AgentToolCall {
  /** Unique within the node; what the tool calls in turn names it as its parent. */
  readonly id: string;
  /** The same when the call is repeated after a recovery. */
  readonly key: string;
  /** The state of an inner agent, when its call is resumed. */
  readonly state?: AgentState | undefined;
}

/** What the model of an agent may call. */
export interface AgentTool {
  readonly kind: 'tool' | 'agent';
  /** What the model sees; its name is unique among the tools of the agent. */
  readonly definition: ToolDefinition;
  /** The name in logs. */
  readonly title: string;
  /** Every call needs an approval. */
  readonly needsApproval: boolean;
  /** Its result may hold passages to cite. */
  readonly mayCite: boolean;
  /** Its result is the agent's answer. */
  readonly isTerminal?: boolean;
  /** Cold: one subscription is one call. Errors become text for the model. */
  call(args: JsonObject, call: AgentToolCall): Observable<AgentToolEvent>;
}

/** A tool of the library and how an agent uses it. */
export interface BoundTool extends FunctionOptions {
  readonly tool: AnyTool;
  readonly needsApproval?: boolean;
  /** Arguments for calls that leave them out. @default none */
  readonly presets?: JsonObject;
  /** Everything of a call but its key. */
  readonly context: Omit<ToolCall<never>, 'key'>;
  /** The trace headers of a call. */
  traceOf(call: string): TraceContext;
}

/** Makes a tool of the library callable by an agent. */
export function bindTool(bound: BoundTool): AgentTool {
  requireObject('bindTool', 'bound', bound, 'an object with "tool", "context" and "traceOf"');
  requireMethods('bindTool', 'tool', bound.tool, ['call'], 'a tool of the library');
  const { tool, needsApproval = false, presets = {}, context, traceOf, ...options } = bound;
  return {
    kind: 'tool',
    definition: withPresets(definitionOf(tool, options), presets),
    title: tool.name,
    needsApproval,
    mayCite: isSearch(tool),
    call: (args, { id, key }) => callTool(tool, { ...presets, ...args }, { ...context, key, trace: traceOf(id) }),
  };
}

/** Marks preset arguments as optional, with their default. */
function withPresets(definition: ToolDefinition, presets: JsonObject): ToolDefinition {
  const { properties, required } = definition.parameters;
  if (!isJsonObject(properties) || Object.keys(presets).length === 0) return definition;
  const shown = Object.entries(properties).map(([name, schema]): [string, Json] => {
    const isPreset = isJsonObject(schema) && Object.hasOwn(presets, name);
    return [name, isPreset ? { ...schema, default: presets[name] ?? null } : schema];
  });
  const needed = Array.isArray(required) ? required.filter((name) => !Object.hasOwn(presets, String(name))) : [];
  const parameters = { ...definition.parameters, properties: Object.fromEntries(shown), required: needed };
  return { ...definition, parameters };
}

/** Whether a tool finds passages: those that do declare the outputs of a search. */
export function isSearch({ outputs }: AnyTool): boolean {
  return outputs.json === searchOutputs.json;
}
