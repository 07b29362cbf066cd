/** One text that is sent, where it is asked for. */
import { useEffect, useRef, useState } from 'react';
import { Button } from '../parts/button.js';
import { useTexts } from '../shell/texts.js';
import style from './research.module.css';
import { screenTexts } from './screen-texts.js';

/** Characters that the server takes. */
const MAX_TEXT = 2_000;

export interface TextFormProps {
  readonly label: string;
  readonly isBusy: boolean;
  /** Gives whether it was taken; then the form closes, else what was typed stays. */
  readonly onSend: (text: string) => Promise<boolean>;
  readonly onClose: () => void;
}

export function TextForm({ label, isBusy, onSend, onClose }: TextFormProps) {
  const words = useTexts(screenTexts);
  const [text, setText] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const send = async () => {
    if (text.trim() !== '' && (await onSend(text.trim()))) onClose();
  };
  return (
    <form
      className={style.inline}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      onKeyDown={({ key }) => {
        if (key === 'Escape') onClose();
      }}
    >
      <input
        ref={field}
        aria-label={label}
        placeholder={label}
        maxLength={MAX_TEXT}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Button type="submit" look="main" disabled={isBusy || text.trim() === ''}>
        {words.send}
      </Button>
      <Button onClick={onClose}>{words.cancel}</Button>
    </form>
  );
}
