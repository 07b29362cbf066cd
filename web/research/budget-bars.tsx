/** What a research has spent of what it may. */
import { Waypoints } from 'lucide-react';
import { Link } from 'wouter';
import { formatMs } from '../../src/canvas/timeline-rows.js';
import { runAddress } from '../run/place.js';
import { useChoices } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import style from './research.module.css';
import type { ResearchShown } from './research-picture.js';
import { screenTexts } from './screen-texts.js';
import { treeTexts } from './tree/tree-texts.js';

const NAMES = ['tokens', 'calls', 'webRequests', 'money'] as const;

export interface BudgetBarsProps {
  readonly shown: ResearchShown;
  /** Where its run is read: id of the agent, id of the run. */
  readonly agent: string;
  readonly run: string;
}

export function BudgetBars({ shown: { budget }, agent, run }: BudgetBarsProps) {
  const words = useTexts(treeTexts);
  const { trace } = useTexts(screenTexts);
  const { language } = useChoices();
  const written = (value: number): string => value.toLocaleString(language, { maximumFractionDigits: 4 });
  return (
    <section className={style.part} aria-label={words.budget}>
      <h2>{words.budget}</h2>
      <dl className={style.bars}>
        {budget !== undefined &&
          NAMES.map((name) => {
            const used = budget[name];
            const limit = budget.of[name];
            if (used === 'unknown') return <Bar key={name} name={words.budgetNames[name]} text={words.unknown} />;
            const text =
              limit === undefined ? words.usedAlone(written(used)) : words.used(written(used), written(limit));
            return <Bar key={name} name={words.budgetNames[name]} text={text} used={used} limit={limit} />;
          })}
      </dl>
      {budget?.of.ms !== undefined && <p className={style.soft}>{words.time(formatMs(budget.of.ms))}</p>}
      <Link href={runAddress(agent, run)} className={style.link}>
        <Waypoints size={14} aria-hidden="true" /> {trace}
      </Link>
    </section>
  );
}

interface BarProps {
  readonly name: string;
  readonly text: string;
  readonly used?: number;
  readonly limit?: number | undefined;
}

function Bar({ name, text, used, limit }: BarProps) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {text}
        {used !== undefined && limit !== undefined && limit > 0 && (
          <progress aria-label={name} max={limit} value={Math.min(used, limit)} />
        )}
      </dd>
    </>
  );
}
