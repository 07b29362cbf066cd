/** What a project tells every agent that works on it. */

import { isThenable } from '../../compose/engine/later.js';
import { show } from '../../compose/make-step.js';
import { requireCallable, requireOptions, requireWhole } from '../../operators/invalid-option.js';
import { type Language, requireLanguage } from '../language.js';
import type { AgentView } from '../loop/agent-view.js';
import { wrongGiven } from '../loop/given.js';
import { type AgentMiddleware, defineMiddleware } from '../loop/middleware.js';
import { cutText, withInstructions } from './instructions.js';

/** See {@link agentsFile}. */
export interface AgentsFileOptions {
  /** Gives the text of the file; undefined when there is none. */
  readonly read: (view: AgentView) => string | undefined | PromiseLike<string | undefined>;
  /** Unique among the middlewares of an agent. @default 'agentsFile' */
  readonly name?: string;
  /** Of what the model is told around the text. @default 'en' */
  readonly language?: Language;
  /** Characters of the text; the rest is left out, and it says so. @default 32_000 */
  readonly maxCharacters?: number;
}

/**
 * Puts the text of a file such as AGENTS.md behind the instructions. It is read once, when the agent begins, and stays the same over a resume.
 *
 * Errors: those of `read`.
 *
 * @throws EngineError OPTION_INVALID
 */
export function agentsFile(options: AgentsFileOptions): AgentMiddleware<string> {
  requireOptions('agentsFile', options, ['read', 'name', 'language', 'maxCharacters'], 'an object with "read"');
  const { read, name = 'agentsFile', language = 'en', maxCharacters = 32_000 } = options;
  requireCallable('agentsFile', 'read', read ?? null);
  requireLanguage('agentsFile', language);
  requireWhole('agentsFile', 'maxCharacters', maxCharacters, 1);
  const { title, cut } = TEXTS[language];
  return defineMiddleware<string>({
    name,
    initial: () => '',
    beforeAgent(_, view) {
      const keep = (text: unknown): undefined => {
        if (text !== undefined && typeof text !== 'string')
          throw wrongGiven('"read" of agentsFile', 'text, or nothing', show(text));
        view.setOwn(cutText(text?.trim() ?? '', maxCharacters, cut));
      };
      const text = read(view);
      return isThenable(text) ? text.then((later) => keep(later)) : keep(text);
    },
    beforeModel: (request, { own }) => withInstructions(request, own === '' ? '' : `${title}\n\n${own}`),
  });
}

const TEXTS = {
  en: { title: 'The project has these rules for agents; keep to them:', cut: '[The rest of the file is left out.]' },
  zh: { title: '本项目对智能体有以下规则，请遵守：', cut: '[文件其余部分已省略。]' },
} as const;
