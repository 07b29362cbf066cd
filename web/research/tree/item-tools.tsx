/** What a person does about one task or question that is not over: answers it, drops it, has it done first. */
import { ArrowUpToLine, MessageSquare, X } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '../../parts/button.js';
import { useTexts } from '../../shell/texts.js';
import style from '../research.module.css';
import { screenTexts } from '../screen-texts.js';
import { TextForm } from '../text-form.js';
import type { Steering } from '../use-steer.js';

export interface ItemToolsProps {
  readonly id: string;
  readonly text: string;
  readonly steering: Steering;
}

/** Characters of a question in the names of its buttons. */
const MAX_NAME = 200;

export function ItemTools({ id, text, steering }: ItemToolsProps) {
  const words = useTexts(screenTexts);
  const [isAnswering, setIsAnswering] = useState(false);
  const { steer, isBusy } = steering;
  const name = text.slice(0, MAX_NAME);
  return (
    <>
      <span className={style.itemTools}>
        <IconButton
          label={words.first(name)}
          disabled={isBusy}
          onClick={() => void steer({ action: 'order', questions: [id] })}
        >
          <ArrowUpToLine size={14} aria-hidden="true" />
        </IconButton>
        <IconButton label={words.answerIt(name)} disabled={isBusy} onClick={() => setIsAnswering(true)}>
          <MessageSquare size={14} aria-hidden="true" />
        </IconButton>
        <IconButton
          label={words.drop(name)}
          disabled={isBusy}
          onClick={() => void steer({ action: 'drop', question: id })}
        >
          <X size={14} aria-hidden="true" />
        </IconButton>
      </span>
      {isAnswering && (
        <TextForm
          label={words.answerField(name)}
          isBusy={isBusy}
          onSend={(answer) => steer({ action: 'answer', question: id, answer })}
          onClose={() => setIsAnswering(false)}
        />
      )}
    </>
  );
}
