/** What was missing behind each round, and what followed. */
import { useTexts } from '../../shell/texts.js';
import style from '../research.module.css';
import type { RoundEnd } from '../research-picture.js';
import { treeTexts } from './tree-texts.js';

export function RoundList({ rounds }: { readonly rounds: readonly RoundEnd[] }) {
  const words = useTexts(treeTexts);
  if (rounds.length === 0) return null;
  return (
    <section className={style.part} aria-label={words.rounds}>
      <h2>{words.rounds}</h2>
      <ol className={style.plain}>
        {rounds.map(({ round, missing, action }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list only grows
          <li key={at}>
            <strong>{words.roundEnd(round)}</strong> {words.actions[action] ?? action}
            {missing.length > 0 && (
              <p>
                {words.missing} {missing.join(' · ')}
              </p>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
