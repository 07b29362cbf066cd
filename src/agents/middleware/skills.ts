/** Skills: instructions in folders, which a model reads only when it needs them. */
import { z } from 'zod';
import { defineTool } from '../../compose/tools/define-tool.js';
import type { StepTool } from '../../compose/tools/step-tool.js';
import { EngineError } from '../../errors.js';
import {
  invalidOption,
  requireMethods,
  requireOptions,
  requireText,
  requireWhole,
} from '../../operators/invalid-option.js';
import { type Language, requireLanguage } from '../language.js';
import { agent } from '../loop/agent.js';
import { agentTool } from '../loop/agent-as-tool.js';
import { type AgentBasis, type AgentMiddleware, defineMiddleware } from '../loop/middleware.js';
import type { FileSpace } from './files/file-space.js';
import { cutText, withInstructions } from './instructions.js';

/**
 * How a skill is used. `inline`: its text joins the conversation. `fork`: an agent of its own, with the same model and tools, works by it and gives its
 * answer. `fork-with-history`: that agent hears the conversation as well.
 */
export type SkillMode = 'inline' | 'fork' | 'fork-with-history';

/** A skill as models are told of it. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  /** Its folder in the space. */
  readonly folder: string;
  readonly mode: SkillMode;
}

/** See {@link skills}. */
export interface SkillsOptions {
  readonly space: Pick<FileSpace, 'list' | 'read'>;
  /** Holds one folder for each skill, with a file SKILL.md. @default 'skills' */
  readonly folder?: string;
  /** Ways that are offered; a skill whose `mode` is not among them is `inline`. @default ['inline'] */
  readonly modes?: readonly SkillMode[];
  /** Skills that are listed, by name; others are left out. @default 100 */
  readonly maxSkills?: number;
  /** Characters of a SKILL.md. @default 40_000 */
  readonly maxCharacters?: number;
  /** Unique among the middlewares of an agent. @default 'skills' */
  readonly name?: string;
  /** Of what the model is told. @default 'en' */
  readonly language?: Language;
}

const OPTIONS = ['space', 'folder', 'modes', 'maxSkills', 'maxCharacters', 'name', 'language'];

/**
 * Lists skills in the instructions, and gives the model `load_skill`, and `fork_skill` and `fork_skill_with_history` where `modes` has them. A SKILL.md begins
 * with `---`, lines `name: …`, `description: …` and maybe `mode: …`, and `---`; one without a name or description is left out. The list is read once,
 * when the agent begins, and stays the same over a resume. Give the agent `files` over the same space when skills have further files.
 *
 * Errors: those of the space, but for a folder that is not there: then there are no skills. A skill that is not there is text for the model.
 *
 * @throws EngineError OPTION_INVALID
 */
export function skills(options: SkillsOptions): AgentMiddleware<readonly Skill[]> {
  const setup = readOptions(options);
  const texts = TEXTS[setup.language];
  return defineMiddleware<readonly Skill[]>({
    name: setup.name,
    initial: () => [],
    tools: (basis) => [loadTool(setup), ...forkTools(setup, basis)],
    async beforeAgent(_, view) {
      view.setOwn(await findSkills(setup));
      return undefined;
    },
    beforeModel: (request, { own }) =>
      withInstructions(
        request,
        own.length === 0
          ? ''
          : `${texts.use}\n${own.map(({ name, description, mode }) => `- ${name} (${TOOLS[mode]}): ${description}`).join('\n')}`,
      ),
  });
}

const TOOLS: Readonly<Record<SkillMode, string>> = {
  inline: 'load_skill',
  fork: 'fork_skill',
  'fork-with-history': 'fork_skill_with_history',
};

function loadTool(setup: Setup): StepTool {
  return defineTool({
    name: TOOLS.inline,
    description: TEXTS[setup.language].load,
    input: z.object({ name: z.string() }),
    run: ({ name }) => textOf(setup, name),
  });
}

function forkTools(setup: Setup, { model, failover, settings, limits, tools, use }: AgentBasis): StepTool[] {
  const texts = TEXTS[setup.language];
  return setup.modes
    .filter((mode) => mode !== 'inline')
    .map((mode) => {
      const worker = agent({
        name: TOOLS[mode],
        ...{ model, failover, settings, limits, tools, language: setup.language },
        use: [...use, skillOf(setup)],
      });
      return agentTool(worker, {
        description: mode === 'fork' ? texts.fork : texts.forkWithHistory,
        hears: mode === 'fork' ? 'request' : 'history',
        input: z.object({ name: z.string(), request: z.string() }),
        // The name reaches the other agent in a field that no model is sent.
        question: ({ name, request }) => [{ role: 'user', content: String(request), extra: { skill: String(name) } }],
      });
    });
}

/** Gives an agent the skill that its last message names as its instructions. */
function skillOf(setup: Setup): AgentMiddleware<string> {
  return defineMiddleware<string>({
    name: setup.name,
    initial: () => '',
    async beforeAgent(messages, view) {
      const name = messages.findLast(({ extra }) => typeof extra?.skill === 'string')?.extra?.skill;
      view.setOwn(await textOf(setup, String(name)));
      return undefined;
    },
    beforeModel: (request, { own }) => withInstructions(request, own),
  });
}

async function textOf(setup: Setup, name: string): Promise<string> {
  const found = await findSkills(setup);
  const skill = found.find((one) => one.name === name);
  const texts = TEXTS[setup.language];
  if (skill === undefined)
    throw new EngineError(
      'TOOL_ARGUMENTS',
      texts.unknown(
        name,
        found.map((one) => one.name),
      ),
    );
  const { lines } = await setup.space.read(`${skill.folder}/${FILE}`, { limit: MAX_LINES });
  const { body } = frontMatter(lines);
  return `${texts.folder(skill.folder)}\n\n${cutText(body.trim(), setup.maxCharacters, texts.cut)}`;
}

const FILE = 'SKILL.md';
/** Lines of a SKILL.md, and those in which its front matter ends. */
const MAX_LINES = 10_000;
const MAX_FRONT_MATTER = 50;
/** Characters of a description. */
const MAX_DESCRIPTION = 1_000;

async function findSkills({ space, folder, maxSkills, modes }: Setup): Promise<readonly Skill[]> {
  const listed = await space.list(folder).catch((error: unknown) => {
    if (EngineError.is(error) && error.code === 'FILE_UNKNOWN') return undefined;
    throw error;
  });
  const found = new Map<string, Skill>();
  for (const { path, type } of listed?.found ?? []) {
    if (found.size >= maxSkills) break;
    if (type !== 'folder') continue;
    const file = await space.read(`${path}/${FILE}`, { limit: MAX_FRONT_MATTER }).catch(() => undefined);
    const { name = '', description = '', mode } = frontMatter(file?.lines ?? []).fields;
    if (name === '' || description === '' || found.has(name)) continue;
    const wanted = modes.find((one) => one === mode) ?? 'inline';
    found.set(name, { name, description: description.slice(0, MAX_DESCRIPTION), folder: path, mode: wanted });
  }
  return [...found.values()];
}

/** Lines of `key: value` between two lines of `---`, and what follows. */
function frontMatter(lines: readonly string[]) {
  const end = lines[0]?.trim() === '---' ? lines.findIndex((line, at) => at > 0 && line.trim() === '---') : -1;
  const fields = new Map<string, string>();
  for (const line of lines.slice(1, Math.max(1, end))) {
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    const value = line.slice(colon + 1).trim();
    const isQuoted = value.length > 1 && /^["']/.test(value) && value.endsWith(value[0] as string);
    fields.set(line.slice(0, colon).trim(), isQuoted ? value.slice(1, -1) : value);
  }
  const [name, description, mode] = ['name', 'description', 'mode'].map((key) => fields.get(key));
  return { fields: { name, description, mode }, body: lines.slice(end + 1).join('\n') };
}

type Setup = Required<SkillsOptions>;

function readOptions(options: SkillsOptions): Setup {
  requireOptions('skills', options, OPTIONS, 'an object with "space"');
  const { space, folder = 'skills', modes = ['inline'], maxSkills = 100, maxCharacters = 40_000 } = options;
  const { name = 'skills', language = 'en' } = options;
  requireMethods('skills', 'space', space, ['list', 'read'], 'a FileSpace');
  requireText('skills', 'folder', folder);
  if (!Array.isArray(modes) || !modes.every((mode) => Object.hasOwn(TOOLS, mode)) || new Set(modes).size < modes.length)
    throw invalidOption('skills', 'modes', 'a list of "inline", "fork", "fork-with-history"', modes);
  requireWhole('skills', 'maxSkills', maxSkills, 1);
  requireWhole('skills', 'maxCharacters', maxCharacters, 1);
  requireLanguage('skills', language);
  return { space, folder, modes, maxSkills, maxCharacters, name, language };
}

interface Texts {
  readonly use: string;
  readonly load: string;
  readonly fork: string;
  readonly forkWithHistory: string;
  readonly cut: string;
  folder(path: string): string;
  unknown(name: string, known: readonly string[]): string;
}

const TEXTS: Readonly<Record<Language, Texts>> = {
  en: {
    use: 'You have skills: instructions for certain work. When one fits, use it before you begin, with the tool that stands behind its name:',
    load: 'Gives the instructions of a skill, by its name. Follow them.',
    fork: 'Has another agent work by a skill, and gives its answer. It knows only your request: say everything that it needs.',
    forkWithHistory:
      'Has another agent work by a skill, and gives its answer. It hears the conversation and your request.',
    cut: '[The rest of the skill is left out.]',
    folder: (path) => `The files of this skill are in ${path}/.`,
    unknown: (name, known) => `There is no skill "${name}". There are: ${known.join(', ') || 'none'}.`,
  },
  zh: {
    use: '你拥有以下技能，即针对特定工作的说明。若有合适的技能，请在开始前用名称后的工具使用它：',
    load: '按名称给出技能的说明，请遵照执行。',
    fork: '让另一个智能体按技能工作并给出答案。它只知道你的请求，请说明所需的一切。',
    forkWithHistory: '让另一个智能体按技能工作并给出答案。它能看到对话和你的请求。',
    cut: '[技能其余部分已省略。]',
    folder: (path) => `此技能的文件位于 ${path}/。`,
    unknown: (name, known) => `没有名为“${name}”的技能。现有：${known.join('、') || '无'}。`,
  },
};
