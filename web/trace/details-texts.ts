/** What the details of an activation say. */
import type { RunUsage } from '../../src/graph/events.js';
import { defineTexts } from '../shell/texts.js';

const count = (value: number, language: string): string => value.toLocaleString(language);

export const detailsTexts = defineTexts({
  en: {
    label: (name: string) => `What ${name} did`,
    began: 'Began after',
    took: 'Took',
    notYet: 'not over yet',
    tokens: 'Tokens',
    usage: ({ totalTokens, promptTokens, completionTokens }: RunUsage) =>
      `${count(totalTokens, 'en')} (${count(promptTokens, 'en')} in, ${count(completionTokens, 'en')} out)`,
    attempt: 'Try',
    events: 'Events',
    seek: (seq: number) => `Show the run at event ${seq}`,
    said: 'Wrote',
    retracted: 'Wrote (does not count: it began anew)',
    thought: 'Reasoning',
    gave: 'Outputs',
    notices: 'Notices',
  },
  zh: {
    label: (name: string) => `${name} 做了什么`,
    began: '开始于',
    took: '用时',
    notYet: '尚未结束',
    tokens: '词元',
    usage: ({ totalTokens, promptTokens, completionTokens }: RunUsage) =>
      `${count(totalTokens, 'zh')}（输入 ${count(promptTokens, 'zh')}，输出 ${count(completionTokens, 'zh')}）`,
    attempt: '第几次尝试',
    events: '事件',
    seek: (seq: number) => `显示事件 ${seq} 时的运行`,
    said: '写出的文本',
    retracted: '写出的文本（无效：已重新开始）',
    thought: '推理过程',
    gave: '输出',
    notices: '通知',
  },
});
