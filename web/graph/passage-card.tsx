/** A passage that a graph led to: its document, its text, and the way to it. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { documentAddress } from '../datasets/dataset-data.js';
import { useTexts } from '../shell/texts.js';
import style from './graph.module.css';
import type { GraphHit } from './graph-questions.js';
import { graphTexts } from './graph-texts.js';
import { WaySteps } from './way-steps.js';

interface PassageCardProps {
  readonly hit: GraphHit;
  /** Buttons. */
  readonly children?: ReactNode;
}

export function PassageCard({ hit, children }: PassageCardProps) {
  const words = useTexts(graphTexts);
  const { id, content, dataset_id: dataset, document_id: document, document_keyword: name, page, score, why } = hit;
  return (
    <article className={style.card}>
      <div className={style.line}>
        <Link href={`${documentAddress(dataset, document)}?chunk=${encodeURIComponent(id)}`} className={style.text}>
          <bdi>{name}</bdi>
        </Link>
        {page !== null && <span className={style.hint}>{words.page(page)}</span>}
        <span className={style.hint}>{score.toFixed(2)}</span>
        {why.community !== undefined && <bdi className={style.hint}>{why.community}</bdi>}
        {children}
      </div>
      {why.steps.length > 0 && <WaySteps steps={why.steps} />}
      <p className={style.text} dir="auto">
        {content}
      </p>
    </article>
  );
}
