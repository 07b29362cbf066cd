/** What the scores of a search are called, by the names that the server gives them. */
import { defineTexts } from '../shell/texts.js';

export const channelNames = defineTexts<Readonly<Record<string, string>>>({
  en: {
    bm25: 'Words',
    vector: 'Vectors',
    ngram: 'Letters',
    rm3: 'Related words',
    proximity: 'Nearness of words',
    title: 'Title',
    titleInQuestion: 'Title in the question',
    link: 'Links',
    rerank: 'Reranking model',
  },
  zh: {
    bm25: '词',
    vector: '向量',
    ngram: '字符',
    rm3: '相关词',
    proximity: '词距',
    title: '标题',
    titleInQuestion: '问题含标题',
    link: '链接',
    rerank: '重排模型',
  },
});
