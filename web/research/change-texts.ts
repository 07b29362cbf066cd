/** What people did to a research, in words. */
import { defineTexts } from '../shell/texts.js';

export const changeTexts = defineTexts({
  en: {
    title: 'Changed by people',
    add: (text: string) => `Added: ${text}`,
    drop: (text: string) => `Dropped: ${text}`,
    answer: (text: string, answer: string) => `Answered: ${text} – ${answer}`,
    order: (text: string) => `Moved to the front: ${text}`,
    exclude: (source: string) => `Left out: ${source}`,
    clarify: (answers: string) => `Explained: ${answers}`,
    enough: 'Said enough: the report is written with what there is.',
    approve: 'Approved the plan.',
    plan: 'Changed the plan.',
  },
  zh: {
    title: '人工更改',
    add: (text: string) => `添加：${text}`,
    drop: (text: string) => `去除：${text}`,
    answer: (text: string, answer: string) => `回答：${text} – ${answer}`,
    order: (text: string) => `移到最前：${text}`,
    exclude: (source: string) => `排除：${source}`,
    clarify: (answers: string) => `说明：${answers}`,
    enough: '表示已足够：用已有内容撰写报告。',
    approve: '批准了计划。',
    plan: '更改了计划。',
  },
});
