/** What a preview says. */
import { defineTexts } from '../shell/texts.js';

export const previewTexts = defineTexts({
  en: {
    pasted: 'Pasted text',
    untitled: 'Imported agent',
    title: 'Title',
    unreadable: 'This is no canvas that can be read.',
    about: (version: number, kind: 'agent' | 'pipeline' | null, components: number) =>
      `Version ${version}, ${components} ${components === 1 ? 'component' : 'components'}. ${
        kind === 'pipeline'
          ? 'It is an ingestion pipeline: it prepares documents of a dataset, and answers no questions.'
          : ''
      }`.trim(),
    unknown: (types: string) =>
      `This server has no ${types}. The canvas can be imported and looked at, and will not run as it is.`,
    issues: (count: number) => (count === 1 ? '1 problem' : `${count} problems`),
    more: (count: number) => `and ${count} more`,
    losses: (count: number) => `${count} ${count === 1 ? 'part' : 'parts'} would be lost in an export as version 2`,
    error: 'Error',
    warning: 'Warning',
  },
  zh: {
    pasted: '粘贴的文本',
    untitled: '导入的智能体',
    title: '标题',
    unreadable: '这不是可读取的画布。',
    about: (version: number, kind: 'agent' | 'pipeline' | null, components: number) =>
      `版本 ${version}，${components} 个组件。${kind === 'pipeline' ? '这是摄取管道：它处理数据集的文档，不回答问题。' : ''}`,
    unknown: (types: string) => `此服务器没有 ${types}。可以导入并查看此画布，但无法直接运行。`,
    issues: (count: number) => `${count} 个问题`,
    more: (count: number) => `另有 ${count} 个`,
    losses: (count: number) => `导出为版本 2 时会丢失 ${count} 个部分`,
    error: '错误',
    warning: '警告',
  },
});
