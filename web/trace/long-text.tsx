/** A text of any length: its beginning, and all of it when the user asks. */
import { useState } from 'react';
import { Button } from '../parts/button.js';
import { CopyButton } from '../parts/copy-button.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './activation-details.module.css';

const texts = defineTexts({
  en: {
    all: (characters: number) => `Show all ${characters.toLocaleString('en')} characters`,
    omitted: (characters: number) => `${characters.toLocaleString('en')} more characters were not kept.`,
  },
  zh: {
    all: (characters: number) => `显示全部 ${characters.toLocaleString('zh')} 个字符`,
    omitted: (characters: number) => `另有 ${characters.toLocaleString('zh')} 个字符未保留。`,
  },
});

const FIRST_CHARACTERS = 1_200;

export interface LongTextProps {
  readonly text: string;
  /** Characters that nothing holds any more. */
  readonly omitted: number;
  /** Name for readers of the screen. */
  readonly label: string;
}

export function LongText({ text, omitted, label }: LongTextProps) {
  const words = useTexts(texts);
  const [isWhole, setIsWhole] = useState(false);
  const isCut = !isWhole && text.length > FIRST_CHARACTERS;
  return (
    <div className={style.text}>
      <CopyButton className={style.copy} text={() => text} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex lint/a11y/useSemanticElements: long texts scroll, and that must work by keyboard */}
      <pre role="group" tabIndex={0} aria-label={label}>
        {isCut ? `${text.slice(0, FIRST_CHARACTERS)}…` : text}
      </pre>
      {isCut && <Button onClick={() => setIsWhole(true)}>{words.all(text.length)}</Button>}
      {omitted > 0 && <p className={style.hint}>{words.omitted(omitted)}</p>}
    </div>
  );
}
