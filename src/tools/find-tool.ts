import type { AnyTool } from './tool.js';

/** The tool of a list that answers to a name: as a component, as a function, or by an older name; case does not matter. */
export function findTool(tools: readonly AnyTool[], name: string): AnyTool | undefined {
  const wanted = name.trim().toLowerCase();
  return tools.find((tool) => namesOf(tool).some((one) => one.toLowerCase() === wanted));
}

/** Every name of a tool, as a component first. */
export function namesOf({ component, name, aliases = [] }: AnyTool): readonly string[] {
  return [component, name, ...aliases];
}
