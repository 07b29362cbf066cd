/** Why tools may not be called any more, and that they may not, as models are told. */
import type { Language } from './language.js';

/** Texts of one language. */
export interface RoundTexts {
  rounds(most: number): string;
  tokens(most: number): string;
  seconds(most: number): string;
  called(tool: string): string;
  readonly tooLong: string;
  noMoreTools(why: string): string;
}

/** By language. */
export const ROUND_TEXTS: Readonly<Record<Language, RoundTexts>> = {
  en: {
    rounds: (most) => `${most} rounds have been made.`,
    tokens: (most) => `The budget of ${most} tokens is spent.`,
    seconds: (most) => `The budget of ${most} seconds is spent.`,
    called: (tool) => `The tool ${tool} has been called.`,
    tooLong: 'The conversation with the tools has become too long.',
    noMoreTools: (why) =>
      `${why} No more tools can be called now. Answer with what you know so far, and say what is missing.`,
  },
  zh: {
    rounds: (most) => `已经进行了 ${most} 轮。`,
    tokens: (most) => `${most} 个 token 的预算已用完。`,
    seconds: (most) => `${most} 秒的时间预算已用完。`,
    called: (tool) => `工具 ${tool} 已被调用。`,
    tooLong: '与工具的对话已经过长。',
    noMoreTools: (why) => `${why}现在不能再调用工具。请根据目前所知作答，并说明缺少什么。`,
  },
};
