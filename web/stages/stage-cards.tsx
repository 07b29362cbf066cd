/** The eight stages of an answer as cards, in their order; those that work at the same time stand in one place. */
import { Ban, Check, CircleAlert, CircleDashed, LoaderCircle, Minus, TriangleAlert, Zap } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ChatPicture } from '../../src/canvas/picture/picture.js';
import { duration } from '../chat/duration.js';
import { JsonView } from '../parts/json-view.js';
import { Popover } from '../parts/popover.js';
import { useTexts } from '../shell/texts.js';
import style from './stage-cards.module.css';
import { type StageCardModel, type StageLook, stageLanes } from './stage-model.js';
import { stagesTexts } from './stages-texts.js';

const ICONS: Readonly<Record<StageLook, ReactNode>> = {
  late: <CircleDashed size={14} aria-hidden="true" />,
  running: <LoaderCircle size={14} aria-hidden="true" className={style.turning} />,
  done: <Check size={14} aria-hidden="true" />,
  cached: <Check size={14} aria-hidden="true" />,
  degraded: <TriangleAlert size={14} aria-hidden="true" />,
  skipped: <Minus size={14} aria-hidden="true" />,
  cancelled: <Ban size={14} aria-hidden="true" />,
  failed: <CircleAlert size={14} aria-hidden="true" />,
  short: <Zap size={14} aria-hidden="true" />,
};

export interface StageCardsProps {
  readonly chat: ChatPicture | undefined;
  /** Whether the run goes on. */
  readonly isAtWork: boolean;
}

export function StageCards({ chat, isAtWork }: StageCardsProps) {
  const words = useTexts(stagesTexts);
  const { shortcut, firstTokenMs } = chat ?? {};
  return (
    <section className={style.stages} aria-label={words.stages}>
      <ol className={style.lanes}>
        {stageLanes(chat, isAtWork).map((lane) => (
          <li key={lane[0]?.stage} className={style.lane}>
            {lane.map((card) => (
              <StageCard key={card.stage} card={card} />
            ))}
          </li>
        ))}
      </ol>
      {shortcut !== undefined && (
        <p className={style.reason}>
          <Zap size={14} aria-hidden="true" />
          <span>{words.shortcut(shortcut.kind, shortcut.reason)}</span>
        </p>
      )}
      {firstTokenMs !== undefined && <p className={style.first}>{words.first(duration(firstTokenMs))}</p>}
    </section>
  );
}

/** A press tells what the stage said of its work. */
function StageCard({ card }: { readonly card: StageCardModel }) {
  const words = useTexts(stagesTexts);
  const { stage, look, ms, budgetMs, isOverBudget, told } = card;
  const name = words.names[stage] ?? String(stage);
  const state = words.looks[look];
  const time = timeOf(ms, budgetMs, words.of);
  return (
    <Popover
      label={words.details(name)}
      className={style.details}
      opener={
        <button type="button" className={`${style.card} ${style[look]}`} disabled={told === undefined}>
          <span className={style.name}>
            <span className={style.number}>{stage}</span> {name}
          </span>{' '}
          <span className={style.state}>
            {ICONS[look]} {state}
          </span>{' '}
          <span className={isOverBudget ? style.over : style.time}>
            {time}
            {isOverBudget && <span className="unseen"> {words.over}</span>}
          </span>
        </button>
      }
    >
      <h3>{told?.name}</h3>
      {told?.detail === undefined || Object.keys(told.detail).length === 0 ? (
        <p>{words.nothing}</p>
      ) : (
        <JsonView label={words.details(name)} value={told.detail} />
      )}
    </Popover>
  );
}

function timeOf(
  ms: number | undefined,
  budgetMs: number | undefined,
  of: (time: string, budget: string) => string,
): string {
  if (ms === undefined) return '';
  return budgetMs === undefined ? duration(ms) : of(duration(ms), duration(budgetMs));
}
