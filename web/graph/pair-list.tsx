/** Pairs of names, each with what can be done to it. */
import { useId } from 'react';
import { Button } from '../parts/button.js';
import { useTexts } from '../shell/texts.js';
import { shortName } from './entity-kinds.js';
import { EntityName } from './entity-name.js';
import style from './graph.module.css';
import { mergeTexts } from './merge-texts.js';

interface Pair {
  readonly names: readonly [string, string];
  /** Of a decision. */
  readonly id?: string;
  readonly note: string;
}

interface PairListProps {
  readonly title: string;
  readonly pairs: readonly Pair[];
  readonly actions: readonly {
    readonly text: string;
    /** Its name for readers of the screen. */
    readonly name: (one: string, other: string) => string;
    readonly onDo: (pair: Pair) => void;
  }[];
}

/** Pairs that are listed. */
const MAX_PAIRS = 50;

export function PairList({ title, pairs, actions }: PairListProps) {
  const words = useTexts(mergeTexts);
  const heading = useId();
  return (
    <>
      <h3 id={heading}>{title}</h3>
      {pairs.length === 0 && <p className={style.hint}>{words.none}</p>}
      <ul className={style.items} aria-labelledby={heading}>
        {pairs.slice(0, MAX_PAIRS).map((pair) => {
          const [one, other] = pair.names;
          return (
            <li key={JSON.stringify([pair.id, one, other])} className={style.line}>
              <EntityName name={one} type="" /> <span aria-hidden="true">·</span> <EntityName name={other} type="" />
              <span className={style.hint}>{pair.note}</span>
              {actions.map(({ text, name, onDo }) => (
                <Button key={text} aria-label={name(shortName(one), shortName(other))} onClick={() => onDo(pair)}>
                  {text}
                </Button>
              ))}
            </li>
          );
        })}
      </ul>
      {pairs.length > MAX_PAIRS && <p className={style.hint}>{words.more(pairs.length - MAX_PAIRS)}</p>}
    </>
  );
}
