/** What stands in the place of the message field for a canvas that answers no questions. */
import { CopyButton } from '../parts/copy-button.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './pipeline-note.module.css';

const texts = defineTexts({
  en: {
    title: 'This is an ingestion pipeline',
    about: 'It prepares the documents of a dataset, and answers no questions.',
    use: 'What is missing here is a dataset: it runs for the documents of datasets whose pipeline_id is',
  },
  zh: {
    title: '这是一个摄取管道',
    about: '它处理知识库的文档，不回答问题。',
    use: '这里缺少的是知识库：它会为 pipeline_id 等于以下值的知识库处理文档：',
  },
});

export function PipelineNote({ agent }: { readonly agent: string }) {
  const words = useTexts(texts);
  return (
    <section className={style.note} aria-label={words.title}>
      <h3>{words.title}</h3>
      <p>{words.about}</p>
      <p>
        {words.use} <code>{agent}</code> <CopyButton text={() => agent} />
      </p>
    </section>
  );
}
