/** The reasoning of a model, folded. */
import { Lightbulb } from 'lucide-react';
import { memo } from 'react';
import type { AnswerPart } from '../../src/canvas/picture/picture.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './answer.module.css';
import { duration } from './duration.js';

const texts = defineTexts({
  en: { open: 'Thinking …', done: (time: string) => `Thought for ${time}`, brief: 'Thought for a moment' },
  zh: { open: '正在思考…', done: (time: string) => `思考了 ${time}`, brief: '思考了片刻' },
});

/** Less says nothing: models that answer at once give their reasoning in one piece. */
const BRIEF_MS = 500;

export interface ThinkingProps {
  readonly part: AnswerPart;
  readonly isOpen: boolean;
}

export const Thinking = memo(function Thinking({ part, isOpen }: ThinkingProps) {
  const words = useTexts(texts);
  const { text, startedAtMs, lastAtMs } = part;
  const ms = lastAtMs - startedAtMs;
  const doneWords = ms < BRIEF_MS ? words.brief : words.done(duration(ms));
  return (
    <details className={style.folded}>
      <summary>
        <Lightbulb size={14} aria-hidden="true" />
        {isOpen ? words.open : doneWords}
      </summary>
      <p className={style.thought}>{text}</p>
    </details>
  );
});
