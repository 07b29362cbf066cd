/** How documents are cut, with what each way makes a chunk of. */
import { useId } from 'react';
import { defineTexts, useTexts } from '../shell/texts.js';
import { METHODS, type Method } from './dataset-data.js';
import style from './datasets.module.css';
import { datasetsTexts } from './datasets-texts.js';

const texts = defineTexts<Record<Method, string>>({
  en: {
    naive: 'Pieces at the ends of lines or sentences, joined up to a number of tokens.',
    book: 'Sections under the headings of chapters.',
    laws: 'Articles, under the headings above them.',
    manual: 'Sections under numbered headings.',
    paper: 'Sections of a paper, with the abstract in one piece.',
    qa: 'A question with its answer: two columns, or lines "Q:" and "A:".',
    table: 'A row, with the names of the columns.',
    tag: 'A text with its tags, from two columns.',
    presentation: 'A page or slide.',
    one: 'The whole document.',
    picture: 'A picture with the text that a model gives it.',
    email: 'Parts of a mail.',
  },
  zh: {
    naive: '按行或句切开，再合并到一定的 token 数。',
    book: '按章节标题划分。',
    laws: '按条文划分，并带上级标题。',
    manual: '按编号标题划分。',
    paper: '按论文章节划分，摘要保持完整。',
    qa: '一问一答：两列，或以“Q:”“A:”开头的行。',
    table: '一行一块，带列名。',
    tag: '文本及其标签，来自两列。',
    presentation: '一页或一张幻灯片一块。',
    one: '整篇文档为一块。',
    picture: '图片及模型给出的文字。',
    email: '邮件的各部分。',
  },
});

interface MethodChoiceProps {
  readonly method: string;
  readonly onChange: (method: string) => void;
}

export function MethodChoice({ method, onChange }: MethodChoiceProps) {
  const words = useTexts(datasetsTexts);
  const about: Readonly<Record<string, string>> = useTexts(texts);
  const field = useId();
  return (
    <>
      <label htmlFor={field}>{words.method}</label>
      <select
        id={field}
        value={method}
        aria-describedby={`${field}a`}
        onChange={({ target }) => onChange(target.value)}
      >
        {METHODS.map((one) => (
          <option key={one} value={one}>
            {words.methods[one]}
          </option>
        ))}
        {!METHODS.some((one) => one === method) && <option value={method}>{method}</option>}
      </select>
      <p id={`${field}a`} className={style.hint}>
        {about[method] ?? ''}
      </p>
    </>
  );
}
