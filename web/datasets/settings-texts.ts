/** What the settings of a dataset say. */
import { defineTexts } from '../shell/texts.js';

export const settingsTexts = defineTexts({
  en: {
    about: 'About',
    cutting: 'How documents are cut',
    tokens: 'Tokens of a chunk at most',
    delimiter: 'Signs behind which a text may be cut',
    delimiterHint: 'A sign in backticks parts chunks and belongs to none; \\n is a line break.',
    overlap: 'Overlap of neighbours in percent',
    children: 'Search small parts, give the whole chunk',
    childDelimiter: 'Signs behind which parts end',
    layout: 'Follow the layout of PDF pages where the server can',
    keywords: 'Keywords that a model finds for each chunk',
    questions: 'Questions that a model finds for each chunk',
    pipeline: 'Documents go through a pipeline of your own; these settings do not reach it.',
    model: 'Embedding model',
    noModel: 'none: found by words',
    apply: (count: number) =>
      count === 1 ? 'Also cut the document that is here anew' : `Also cut the ${count} documents that are here anew`,
    applyHint:
      'Without it the settings hold for new documents. Chunks whose text stays keep their vectors and switches.',
    applying: (done: number, of: number) => `${done} of ${of} documents put in line`,
    saved: 'Saved.',
    failed: (name: string, why: string) => `${name}: ${why}`,
  },
  zh: {
    about: '基本信息',
    cutting: '文档切分',
    tokens: '每块最多 token 数',
    delimiter: '可在其后切分的符号',
    delimiterHint: '反引号中的符号用于分隔，不归入任何分块；\\n 表示换行。',
    overlap: '相邻分块重叠百分比',
    children: '检索小片段，返回整块',
    childDelimiter: '片段结束符号',
    layout: '服务器支持时按 PDF 版面解析',
    keywords: '由模型为每块提取的关键词数',
    questions: '由模型为每块生成的问题数',
    pipeline: '文档使用自定义流水线解析，此处设置对其无效。',
    model: '向量模型',
    noModel: '无：按词检索',
    apply: (count: number) => `同时重新切分已有的 ${count} 个文档`,
    applyHint: '否则仅对新文档生效。文本不变的分块保留其向量和开关状态。',
    applying: (done: number, of: number) => `已安排 ${done}/${of} 个文档`,
    saved: '已保存。',
    failed: (name: string, why: string) => `${name}：${why}`,
  },
});
