/** Many tools, of which a model is offered those that it searches for. */
import { z } from 'zod';
import { defineTool } from '../../compose/tools/define-tool.js';
import type { StepTool } from '../../compose/tools/step-tool.js';
import { toolBox } from '../../compose/tools/tool-box.js';
import { EngineError } from '../../errors.js';
import type { ToolDefinition } from '../../models/chat-model.js';
import { type ChatMessage, type ToolMessage, toolMessage } from '../../models/messages.js';
import { invalidOption, requireOptions, requireWhole } from '../../operators/invalid-option.js';
import { type Language, requireLanguage } from '../language.js';
import { type AgentMiddleware, defineMiddleware, type HookView } from '../loop/middleware.js';
import { startOf, withInstructions } from './instructions.js';
import { type RankedTools, toolRanking } from './rank-tools.js';

/** See {@link toolSearch}. */
export interface ToolSearchOptions {
  /** What can be found; agents as tools may be among them. Other tools of the agent are offered as ever. */
  readonly tools: readonly StepTool[];
  /** Names of those among `tools` that are offered without a search. @default none */
  readonly always?: readonly string[];
  /** Unique among the middlewares of an agent. @default 'toolSearch' */
  readonly name?: string;
  /** Of what the model is told. @default 'en' */
  readonly language?: Language;
  /** Tools that one search gives. @default 5 */
  readonly maxResults?: number;
  /** Tools that are offered at once beside those of `always`; the ones found first make place. @default 30 */
  readonly maxOffered?: number;
}

/**
 * Offers tools only once the model has found them: `search_tools` takes a few words, and what it finds is offered from the next round on.
 *
 * Words are compared with names, descriptions and names of arguments; nothing in them is a pattern. A search without a hit names the tools that are
 * spelt nearly so. What was found stays offered over rounds, resumes, and further turns of a conversation that holds the search. A call of a tool
 * that was not found yet is not made: its result says so, and the tool is offered from then on. The event `tools-found` tells of tools that
 * became offered.
 *
 * @throws EngineError OPTION_INVALID for options that cannot be used, and a name in `always` that no tool has.
 */
export function toolSearch(options: ToolSearchOptions): AgentMiddleware<readonly string[]> {
  requireOptions('toolSearch', options, OPTIONS, 'an object with "tools"');
  const { tools, always = [], name = 'toolSearch', language = 'en', maxResults = 5, maxOffered = 30 } = options;
  requireLanguage('toolSearch', language);
  requireWhole('toolSearch', 'maxResults', maxResults, 1);
  requireWhole('toolSearch', 'maxOffered', maxOffered, 1);
  if (maxOffered < maxResults) {
    throw invalidOption('toolSearch', 'maxOffered', `at least ${maxResults}, as many as one search gives`, maxOffered);
  }
  const hidden = hiddenTools(tools, always);
  const texts = TEXTS[language];
  const rank = toolRanking([...hidden.values()]);
  const search = defineTool({
    name: SEARCH,
    description: texts.tool,
    input: z.object({ query: z.string().describe(texts.query) }),
    run: ({ query }) => {
      const ranked = rank(query);
      const hits = ranked.hits.slice(0, maxResults);
      return { text: textOf(ranked, hits, hidden, language), extra: { found: hits.map((tool) => tool.name) } };
    },
    output: (result) => result,
  });
  const offer = (found: readonly string[], view: HookView<readonly string[]>): void => {
    const known = found.filter((one) => hidden.has(one));
    const news = known.filter((one) => !view.own.includes(one));
    // What was found again counts as new, so that it is not the next one to make place.
    view.setOwn([...new Set([...view.own.filter((one) => !known.includes(one)), ...known])].slice(-maxOffered));
    if (news.length > 0) view.emit('tools-found', { agent: view.agent, tools: news });
  };
  return defineMiddleware<readonly string[]>({
    name,
    initial: () => [],
    tools: [search, ...tools],
    beforeAgent(messages, view) {
      const found = messages.flatMap(foundBy).filter((one) => hidden.has(one));
      view.setOwn([...new Set(found)].slice(-maxOffered));
      return undefined;
    },
    beforeModel(request, { own }) {
      const offered = request.tools.filter((tool) => !hidden.has(tool.name) || own.includes(tool.name));
      if (!offered.some((tool) => tool.name === SEARCH)) return { ...request, tools: offered };
      return withInstructions({ ...request, tools: offered }, texts.use(hidden.size));
    },
    afterModel({ message, results }, view) {
      const answered = new Set(results.map(({ toolCallId }) => toolCallId));
      const early = (message.toolCalls ?? []).filter(
        (call) => hidden.has(call.name) && !view.own.includes(call.name) && !answered.has(call.id),
      );
      if (early.length === 0) return undefined;
      offer(
        early.map((call) => call.name),
        view,
      );
      const said = early.map((call) =>
        toolMessage(texts.early(call.name), call.id, { name: call.name, isError: true }),
      );
      return { message, results: [...results, ...said] };
    },
    afterTools(results, view) {
      const found = results.flatMap(foundBy);
      if (found.length > 0) offer(found, view);
      return undefined;
    },
  });
}

const OPTIONS = ['tools', 'always', 'name', 'language', 'maxResults', 'maxOffered'];

const SEARCH = 'search_tools';

/** Characters of a description that a result tells; the whole one comes with the tool. */
const MAX_DESCRIPTION = 200;
/** Names that are told when nothing was found and nothing is near. */
const MAX_NAMES = 20;

const TEXTS = {
  en: {
    tool: 'Searches for further tools by words. Those that are found can be called from your next message on.',
    query: 'A few words for what the tool has to do, or its name.',
    use: (count: number) =>
      `There are ${count} further tools that you do not see yet. Find them with ${SEARCH} before you say that something cannot be done.`,
    found: 'You can call these tools now:',
    near: 'No tool has these words. Spelt nearly so are:',
    none: 'No tool has these words. Tools that can be found:',
    more: (count: number) => `… and ${count} more.`,
    early: (name: string) =>
      `${name} was not called, since you had not seen its description. It is offered to you now: read it, and call it again if it fits.`,
  },
  zh: {
    tool: '按关键词搜索更多工具。找到的工具从你的下一条消息起可以调用。',
    query: '用几个词描述工具要做的事，或写出它的名称。',
    use: (count: number) => `还有 ${count} 个你暂时看不到的工具。在说某事无法完成之前，请先用 ${SEARCH} 查找。`,
    found: '现在可以调用这些工具：',
    near: '没有工具包含这些词。拼写相近的有：',
    none: '没有工具包含这些词。可以找到的工具：',
    more: (count: number) => `……另有 ${count} 个。`,
    early: (name: string) => `${name} 没有被调用，因为你还没有看到它的说明。现在已提供给你：请阅读，合适的话再次调用。`,
  },
} as const;

/** The tools that are not offered without a search, by name. */
function hiddenTools(tools: readonly StepTool[], always: readonly string[]): ReadonlyMap<string, ToolDefinition> {
  const box = toolBox('toolSearch', tools);
  if (!Array.isArray(always) || always.some((one) => typeof one !== 'string')) {
    throw invalidOption('toolSearch', 'always', 'a list of names of tools', always);
  }
  const unknown = always.find((one) => box.find(one) === undefined);
  if (unknown !== undefined) {
    const { message } = box.unknown(unknown);
    throw new EngineError('OPTION_INVALID', `toolSearch: "always" names "${unknown}". ${message}`);
  }
  return new Map(tools.filter((tool) => !always.includes(tool.name)).map((tool) => [tool.name, tool]));
}

function textOf(
  { near }: RankedTools,
  hits: readonly ToolDefinition[],
  hidden: ReadonlyMap<string, ToolDefinition>,
  language: Language,
): string {
  const { found, near: nearly, none, more } = TEXTS[language];
  if (hits.length > 0) return [found, ...hits.map(lineOf)].join('\n');
  const names = near.length > 0 ? near.map((tool) => tool.name) : [...hidden.keys()];
  const told = names.slice(0, MAX_NAMES).join(', ');
  const left = names.length - MAX_NAMES;
  return `${near.length > 0 ? nearly : none} ${told}${left > 0 ? ` ${more(left)}` : ''}`;
}

function lineOf({ name, description }: ToolDefinition): string {
  return `- ${name}: ${startOf((description ?? '').replace(/\s+/g, ' ').trim(), MAX_DESCRIPTION)}`;
}

/** What a search found, as its result keeps it. */
function foundBy(message: ChatMessage | ToolMessage): readonly string[] {
  if (message.role !== 'tool' || message.name !== SEARCH || message.isError === true) return [];
  const read = FOUND.safeParse(message.extra?.found);
  return read.success ? read.data : [];
}

const FOUND = z.array(z.string());
