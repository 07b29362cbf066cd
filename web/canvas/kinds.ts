/** Pictures and colours of components: by type where one has its own, else by group. */
import {
  BookOpen,
  Bot,
  Boxes,
  Braces,
  ClipboardList,
  Code,
  Database,
  FileText,
  GitBranch,
  Globe,
  type LucideIcon,
  Mail,
  MessageSquare,
  Play,
  Puzzle,
  Repeat,
  Scissors,
  Sparkles,
  Split,
  Tags,
  Variable,
  Wrench,
} from 'lucide-react';

/** What components have in common; each has a colour of `tokens.css`. */
export type Group = 'flow' | 'model' | 'talk' | 'data' | 'knowledge' | 'tool' | 'unknown';

export interface Kind {
  readonly group: Group;
  readonly icon: LucideIcon;
}

const of = (group: Group, icon: LucideIcon, ...types: readonly string[]): [string, Kind][] =>
  types.map((type) => [type, { group, icon }]);

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ...of('flow', Play, 'begin', 'iterationitem', 'loopitem'),
  ...of('flow', Split, 'switch'),
  ...of('flow', Tags, 'categorize'),
  ...of('flow', Repeat, 'loop', 'iteration'),
  ...of('flow', GitBranch, 'parallel', 'exitloop'),
  ...of('model', Bot, 'agent', 'browser'),
  ...of('model', Sparkles, 'llm', 'generate', 'chat', 'extractor', 'compiler'),
  ...of('talk', MessageSquare, 'message', 'answer'),
  ...of('talk', ClipboardList, 'userfillup', 'fillup'),
  ...of('data', Variable, 'variableassigner', 'variableaggregator'),
  ...of('data', Braces, 'stringtransform', 'dataoperations', 'listoperations'),
  ...of('data', FileText, 'docgenerator', 'excelprocessor'),
  ...of('knowledge', BookOpen, 'retrieval', 'ragflowretriever'),
  ...of('knowledge', FileText, 'file', 'parser'),
  ...of(
    'knowledge',
    Scissors,
    'tokenchunker',
    'titlechunker',
    'onechunker',
    'manualchunker',
    'pagechunker',
    'qachunker',
  ),
  ...of('knowledge', Scissors, 'tablechunker', 'tokenizer'),
  ...of('tool', Code, 'codeexec'),
  ...of('tool', Database, 'exesql'),
  ...of('tool', Mail, 'email'),
  ...of('tool', Globe, 'invoke', 'webcrawler', 'tavilysearch', 'tavilyextract', 'duckduckgo', 'google', 'wikipedia'),
]);

const TOOL: Kind = { group: 'tool', icon: Wrench };
const UNKNOWN: Kind = { group: 'unknown', icon: Puzzle };

/** Picture and colour of a type; `isKnown` false: the server has no such component. */
export function kindOf(type: string, isKnown = true): Kind {
  return isKnown ? (KINDS.get(type.toLowerCase()) ?? TOOL) : UNKNOWN;
}

/** Whether a type, in lower case, has a picture of its own, and so is one that the server has. */
export function hasKind(type: string): boolean {
  return KINDS.has(type);
}

/** Picture of what is called on a server of tools. */
export const SERVER_ICON: LucideIcon = Boxes;

const CONTAINERS: ReadonlySet<string> = new Set(['loop', 'iteration', 'parallel']);
const STARTS: ReadonlySet<string> = new Set(['loopitem', 'iterationitem']);

/** Whether nodes of a type have a body, also while it is empty. */
export function isContainerType(type: string): boolean {
  return CONTAINERS.has(type.toLowerCase());
}

/** Whether nodes of a type only begin a body. */
export function isStartType(type: string): boolean {
  return STARTS.has(type.toLowerCase());
}
