/** The searches that do the tasks of plans, each of some places, by DeepSearch; other tools are calls (`plan-call.ts`). */
import type { Depth } from '../deep/depths.js';

/** How a tool works. */
interface PlanTool {
  readonly does: string;
  /** Tokens that a task takes about. Measured with the collection of `examples/research`, a reading with its verification being 1,500. */
  readonly tokens: number;
  /** Whether its task is split into sub-questions. */
  readonly splits: boolean;
}

/** The tools of plans, by name. */
export const PLAN_TOOLS = {
  kb_search: { does: 'passages of documents', tokens: 3_000, splits: false },
  local_search: { does: 'what the graph knows about names in the description', tokens: 3_000, splits: false },
  global_search: { does: 'overviews of subjects, by communities of the graph', tokens: 3_000, splits: false },
  drift_search: { does: 'broad but concrete questions, by the graph', tokens: 3_000, splits: false },
  path_search: { does: 'how two names in the description are connected', tokens: 3_000, splits: false },
  web_search: { does: 'pages of the web', tokens: 3_000, splits: false },
  deep_search: {
    does: 'everything, for a description that takes several searches of its own',
    tokens: 9_000,
    splits: true,
  },
} as const satisfies Readonly<Record<string, PlanTool>>;

/** One of {@link PLAN_TOOLS}. */
export type PlanToolName = keyof typeof PLAN_TOOLS;

/** Whether there is a tool of that name. */
export function isPlanTool(name: string): name is PlanToolName {
  return Object.hasOwn(PLAN_TOOLS, name);
}

/** Tokens that a task of a tool takes about; 0 for a name that is no tool. */
export function costOfTool(name: string): number {
  return isPlanTool(name) ? PLAN_TOOLS[name].tokens : 0;
}

/** In this order they stand in for one that finds nothing. */
const STAND_INS: readonly PlanToolName[] = ['kb_search', 'local_search', 'web_search'];

/** Tools that stand in for one that finds nothing, of those that there are. */
export function standInsFor(tool: string, tools: readonly string[]): readonly string[] {
  return STAND_INS.filter((name) => name !== tool && tools.includes(name));
}

/** Asks how two things have to do with each other. */
const CONNECTION =
  /\b(?:how\b.*\b(?:connected|related|linked)|(?:connection|relation(?:ship)?|link)s? between)\b|(?:之间|和|与).*(?:关系|联系|关联)/iu;

/** The tool for a part of a question, by rules, of those that there are; the first of them is the usual one. */
export function toolFor(question: string, tools: readonly string[]): string {
  const [usual = 'deep_search'] = tools;
  return tools.includes('path_search') && CONNECTION.test(question) ? 'path_search' : usual;
}

/** How far a task goes that is split. */
const SPLIT = { rounds: 2, questions: 4 };

/** How far a task of a tool goes, in a research of a depth. */
export function depthOfTask(tool: string, depth: Depth): Depth {
  const splits = isPlanTool(tool) && PLAN_TOOLS[tool].splits;
  return splits
    ? { ...depth, rounds: Math.min(SPLIT.rounds, depth.rounds), questions: Math.min(SPLIT.questions, depth.questions) }
    : { ...depth, rounds: 1, questions: 1 };
}
