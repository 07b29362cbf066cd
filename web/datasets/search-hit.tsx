/** A passage that a search found: where it stands, what its score is made of, its text with the words of the question marked. */
import { useId, useMemo } from 'react';
import { Link } from 'wouter';
import { channelNames } from '../parts/channel-names.js';
import { useTexts } from '../shell/texts.js';
import { documentAddress } from './dataset-data.js';
import { markedParts } from './marked-text.js';
import type { SearchHit } from './search-data.js';
import style from './search-panel.module.css';
import { searchTexts } from './search-texts.js';

export function SearchHitCard({ hit, rank }: { readonly hit: SearchHit; readonly rank: number }) {
  const words = useTexts(searchTexts);
  const heading = useId();
  const { content, highlight = content, document_keyword: name, document_id: document, dataset_id: dataset } = hit;
  const parts = useMemo(() => markedParts(content, highlight), [content, highlight]);
  const ids = hit.matches?.map(({ id }) => id) ?? [hit.id];
  return (
    <article aria-labelledby={heading} className={style.hit}>
      <div className={style.line}>
        <h2 id={heading} aria-label={words.hit(rank)}>
          {rank}
        </h2>
        <Link href={`${documentAddress(dataset, document)}?chunk=${ids.join(',')}`}>{name}</Link>
        {hit.pages.length > 0 && <span>{words.page(hit.pages.join(', '))}</span>}
        <span className={style.score}>
          {words.score} <strong>{hit.similarity.toFixed(3)}</strong>
        </span>
      </div>
      <p className={style.text}>
        {parts.map(({ text, isMarked, at }) => (isMarked ? <mark key={at}>{text}</mark> : text))}
      </p>
      <ScoreBars hit={hit} label={words.scores(rank)} />
    </article>
  );
}

/** Channels that say nothing of a hit are left out. */
function ScoreBars({ hit, label }: { readonly hit: SearchHit; readonly label: string }) {
  const channels = useTexts(channelNames);
  const scores = Object.entries(hit.scores).filter(([, score]) => score !== 0);
  if (scores.length === 0) return null;
  return (
    <dl className={style.scores} aria-label={label}>
      {scores.map(([name, score]) => (
        <div key={name}>
          <dt>{channels[name] ?? name}</dt>
          <dd>
            <meter aria-hidden="true" min={0} max={1} value={Math.min(1, score)} />
            {score.toFixed(3)}
          </dd>
        </div>
      ))}
    </dl>
  );
}
