/** The tools that a node has, by the names that a model may call them. */
import { EngineError } from '../../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { didYouMean } from '../../nearest-name.js';
import { invalidOption } from '../../operators/invalid-option.js';
import type { StepTool } from './step-tool.js';

/** Other names that a model may use for a tool. */
export interface ToolAliases {
  /** For the tool itself. @default none */
  readonly names?: readonly string[];
  /** For its arguments, by their own name: `{ query: ['q', 'question'] }`. Of the first level only. @default none */
  readonly arguments?: Readonly<Record<string, readonly string[]>>;
}

/** Aliases by the name of the tool; those of tools that are not there count for nothing. */
export type AliasesByTool = Readonly<Record<string, ToolAliases>>;

/** A tool of a box. */
export interface BoxedTool {
  readonly tool: StepTool;
  /** Alias of an argument to its own name. */
  readonly renames: ReadonlyMap<string, string>;
}

/** Tools by name and alias. */
export interface ToolBox {
  find(name: string): BoxedTool | undefined;
  /** TOOL_UNKNOWN with the names there are, in words for the model. */
  unknown(name: string): EngineError;
}

/**
 * Gathers tools. `owner` begins the messages: `toolsNode "tools"`.
 *
 * @throws EngineError OPTION_INVALID for what is no tool, two tools of a name, and aliases that are empty, taken, or an argument of the tool.
 */
export function toolBox(owner: string, tools: readonly StepTool[], aliases: AliasesByTool = {}): ToolBox {
  if (!Array.isArray(tools)) throw invalidOption(owner, 'tools', 'a list of tools', tools);
  if (!isJsonObject(aliases))
    throw invalidOption(owner, 'aliases', 'an object of aliases by the name of the tool', aliases);
  const byName = new Map<string, BoxedTool>();
  for (const tool of tools) {
    requireTool(owner, tool);
    if (byName.has(tool.name)) throw twice(owner, tool.name);
    byName.set(tool.name, { tool, renames: renamesOf(owner, tool, aliases) });
  }
  const own = [...byName.keys()];
  for (const name of own) {
    for (const alias of aliasesOf(aliases, name).names ?? []) addAlias(owner, byName, name, alias);
  }
  return {
    find: (name) => byName.get(name),
    unknown: (name) => unknownTool(name, own, byName.keys()),
  };
}

/**
 * Puts arguments under their own names. A name that is there already stays, and its alias then is an argument like any other.
 */
export function renameArguments(args: JsonObject, renames: ReadonlyMap<string, string>): JsonObject {
  const present = Object.keys(args).filter((key) => renames.has(key));
  if (present.length === 0) return args;
  const renamed = new Map<string, Json>(Object.entries(args));
  for (const alias of present) {
    const name = renames.get(alias) as string;
    if (renamed.has(name)) continue;
    renamed.set(name, args[alias] as Json);
    renamed.delete(alias);
  }
  return Object.fromEntries(renamed);
}

function requireTool(owner: string, tool: StepTool): void {
  if (isJsonObject(tool) && 'component' in tool) {
    throw new EngineError(
      'OPTION_INVALID',
      `${owner}: "${String(tool.component)}" is a tool of canvases. Wrap it: toolOf(${String(tool.component)}, params).`,
    );
  }
  if (!isJsonObject(tool) || typeof tool.name !== 'string' || typeof tool.call !== 'function') {
    throw invalidOption(owner, 'tools', 'a list of tools, made by defineTool, toolOf, mcpTools or graphTool', tool);
  }
}

function twice(owner: string, name: string): EngineError {
  return new EngineError('OPTION_INVALID', `${owner}: two tools are called "${name}". Give one of them another name.`);
}

function aliasesOf(aliases: AliasesByTool, name: string): ToolAliases {
  return (Object.hasOwn(aliases, name) ? aliases[name] : undefined) ?? {};
}

function addAlias(owner: string, byName: Map<string, BoxedTool>, name: string, alias: string): void {
  if (typeof alias !== 'string' || alias.trim() === '') {
    throw invalidOption(owner, `aliases.${name}.names`, 'a list of texts that are not empty', alias);
  }
  const boxed = byName.get(name) as BoxedTool;
  const other = byName.get(alias);
  if (other !== undefined && other !== boxed) {
    const taken = alias === other.tool.name ? 'the name' : 'an alias';
    throw new EngineError(
      'OPTION_INVALID',
      `${owner}: the alias "${alias}" of "${name}" is ${taken} of the tool "${other.tool.name}" already. Choose another.`,
    );
  }
  byName.set(alias, boxed);
}

function renamesOf(owner: string, tool: StepTool, aliases: AliasesByTool): ReadonlyMap<string, string> {
  const renames = new Map<string, string>();
  const { properties } = tool.parameters;
  for (const [name, others] of Object.entries(aliasesOf(aliases, tool.name).arguments ?? {})) {
    for (const alias of others) {
      const place = `aliases.${tool.name}.arguments.${name}`;
      if (typeof alias !== 'string' || alias.trim() === '') {
        throw invalidOption(owner, place, 'a list of texts that are not empty', alias);
      }
      const known = renames.get(alias);
      const isArgument = isJsonObject(properties) && Object.hasOwn(properties, alias);
      if (isArgument || (known !== undefined && known !== name)) {
        const taken = isArgument ? 'an argument of the tool' : `an alias of "${known}"`;
        throw new EngineError(
          'OPTION_INVALID',
          `${owner}: "${alias}" in ${place} is ${taken} already. Choose another.`,
        );
      }
      renames.set(alias, name);
    }
  }
  return renames;
}

/** TOOL_UNKNOWN in words for the model: the names of the tools, and of `all` the one that resembles. */
export function unknownTool(name: string, own: readonly string[], all: Iterable<string>): EngineError {
  const known =
    own.length === 0 ? 'There are no tools; give it as one of "tools".' : `The tools are: ${own.join(', ')}.`;
  return new EngineError('TOOL_UNKNOWN', `There is no tool "${name}". ${known}${didYouMean(name, all)}`, {
    details: { tool: name, tools: own },
  });
}
