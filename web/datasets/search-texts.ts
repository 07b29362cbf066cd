/** What the test of a search says. */
import { defineTexts } from '../shell/texts.js';

export const searchTexts = defineTexts({
  en: {
    question: 'Question',
    hint: 'Ask as your users would',
    search: 'Search',
    threshold: 'Least score',
    weight: 'Weight of vectors',
    weightHint:
      'How much the meaning of a passage counts beside its words, 0 to 1; without a value, what was measured to be best.',
    measured: 'automatic',
    intro: 'See which passages a question finds, and why. Nothing is asked of a model here.',
    none: 'Nothing was found.',
    noneHint:
      'Ask in other words, or with a lower least score. Documents that are switched off or not parsed yet are not searched.',
    found: (shown: number, total: number) => (shown === total ? `${total} found` : `${shown} of ${total} found`),
    hit: (rank: number) => `Hit ${rank}`,
    page: (pages: string) => `page ${pages}`,
    score: 'Score',
    scores: (rank: number) => `Scores of hit ${rank}`,
    open: 'Open in the document',
  },
  zh: {
    question: '问题',
    hint: '像用户一样提问',
    search: '检索',
    threshold: '最低得分',
    weight: '向量权重',
    weightHint: '语义相似度相对于词语匹配的权重，0 到 1；留空则采用实测最佳值。',
    measured: '自动',
    intro: '查看问题会检索到哪些段落及原因。此处不调用模型。',
    none: '没有找到内容。',
    noneHint: '请换个说法，或降低最低得分。已关闭或未解析的文档不参与检索。',
    found: (shown: number, total: number) =>
      shown === total ? `找到 ${total} 条` : `显示 ${total} 条中的 ${shown} 条`,
    hit: (rank: number) => `结果 ${rank}`,
    page: (pages: string) => `第 ${pages} 页`,
    score: '得分',
    scores: (rank: number) => `结果 ${rank} 的得分`,
    open: '在文档中打开',
  },
});
