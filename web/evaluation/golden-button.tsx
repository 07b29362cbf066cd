/** Chooses a file of golden questions; names the one that was chosen. */
import { FileUp } from 'lucide-react';
import { useRef } from 'react';
import { Button } from '../parts/button.js';
import { useTexts } from '../shell/texts.js';
import { evaluationTexts } from './evaluation-texts.js';

export interface GoldenButtonProps {
  /** Of the chosen file. */
  readonly name: string | undefined;
  /** Its questions. */
  readonly count: number;
  readonly onOpen: (file: File) => void;
}

export function GoldenButton({ name, count, onOpen }: GoldenButtonProps) {
  const words = useTexts(evaluationTexts);
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={picker}
        type="file"
        accept=".jsonl,.json,application/json"
        hidden
        aria-label={words.chooseGolden}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file !== undefined) onOpen(file);
          target.value = '';
        }}
      />
      <Button onClick={() => picker.current?.click()}>
        <FileUp size={16} aria-hidden="true" /> {words.chooseGolden}
      </Button>
      {name !== undefined && (
        <span>
          <strong>{name}</strong> {words.questions(count)}
        </span>
      )}
    </>
  );
}
