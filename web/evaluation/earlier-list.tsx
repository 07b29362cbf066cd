/** Results that were seen before: each can be one of the two that are shown, or be forgotten. */
import { Trash2 } from 'lucide-react';
import { Button, IconButton } from '../parts/button.js';
import { sinceText } from '../parts/since.js';
import { useChoices } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import type { EarlierResult } from './earlier-results.js';
import style from './evaluation.module.css';
import { evaluationTexts } from './evaluation-texts.js';
import type { Slot } from './use-results.js';

export interface EarlierListProps {
  readonly results: readonly EarlierResult[];
  readonly onOpen: (slot: Slot, result: EarlierResult) => void;
  readonly onForget: (id: string) => void;
}

/** Means that a line has room for. */
const MAX_MEANS = 3;
const SLOTS = ['a', 'b'] as const;

export function EarlierList({ results, onOpen, onForget }: EarlierListProps) {
  const words = useTexts(evaluationTexts);
  const { language } = useChoices();
  if (results.length === 0) return null;
  return (
    <section className={style.section} aria-label={words.earlier}>
      <h2>{words.earlier}</h2>
      <p className={style.soft}>{words.earlierHint}</p>
      <ul className={style.earlier}>
        {results.map((result) => (
          <li key={result.id}>
            <span>
              <strong>{result.name}</strong>{' '}
              <span className={style.soft}>
                {[result.of, words.questions(result.questions), sinceText(result.atMs, Date.now(), language)].join(
                  ' · ',
                )}
              </span>
            </span>
            <span className={style.soft}>
              {Object.entries(result.means)
                .slice(0, MAX_MEANS)
                .map(([measure, mean]) => `${measure} ${mean.toFixed(4)}`)
                .join(', ')}
            </span>
            <span className={style.choices}>
              {SLOTS.map((slot) => (
                <Button
                  key={slot}
                  aria-label={words.showAs(result.name, words[slot])}
                  onClick={() => onOpen(slot, result)}
                >
                  {slot.toUpperCase()}
                </Button>
              ))}
              <IconButton label={words.forget(result.name)} onClick={() => onForget(result.id)}>
                <Trash2 size={16} aria-hidden="true" />
              </IconButton>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
