/** The field that a message is written in. Enter sends, Shift and Enter break the line. */
import type { KeyboardEvent } from 'react';
import style from './composer.module.css';

interface WritingProps {
  readonly label: string;
  readonly hint: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly onSend: () => void;
}

export function Writing({ label, hint, text, onChange, onSend }: WritingProps) {
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // Enter ends a word that is being composed, as in Chinese.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onSend();
  };
  return (
    <textarea
      className={style.text}
      aria-label={label}
      placeholder={hint}
      rows={Math.min(8, Math.max(1, text.split('\n', 9).length))}
      value={text}
      onChange={({ target }) => onChange(target.value)}
      onKeyDown={press}
    />
  );
}
