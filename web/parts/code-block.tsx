/** Text that is code, with a button that copies it. */
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './code-block.module.css';
import { CopyButton } from './copy-button.js';

const texts = defineTexts({
  en: { copy: 'Copy', code: 'Code' },
  zh: { copy: '复制', code: '代码' },
});

export interface CodeBlockProps {
  readonly text: string;
  readonly language?: string | undefined;
}

export function CodeBlock({ text, language = '' }: CodeBlockProps) {
  const words = useTexts(texts);
  return (
    <figure className={style.block}>
      <figcaption className={style.bar}>
        <span>{language.slice(0, 40)}</span>
        <CopyButton text={() => text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls takes the focus */}
      <section tabIndex={0} aria-label={words.code}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
    </figure>
  );
}
