/** The screen of a research as its events tell it. */
import { ArrowLeft } from 'lucide-react';
import { Link } from 'wouter';
import { formatMs } from '../../src/canvas/timeline-rows.js';
import { ConnectionNote } from '../chat/connection-note.js';
import type { Connection } from '../run/run-store.js';
import { useChoices } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { StatusTag } from '../trace/status-tag.js';
import { BudgetBars } from './budget-bars.js';
import { ChangeList } from './change-list.js';
import { ClarifyQuestions } from './clarify-questions.js';
import { PlanPanel } from './plan/plan-panel.js';
import { ReportEnd } from './report/report-end.js';
import { ReportView } from './report/report-view.js';
import style from './research.module.css';
import { isOver, type ResearchShown } from './research-picture.js';
import type { ResearchItem } from './research-server.js';
import type { ResearchStore } from './research-store.js';
import { screenTexts } from './screen-texts.js';
import { againAddress, settingsOfRequest } from './start/start-settings.js';
import { SteerBar } from './steer-bar.js';
import { Contradictions } from './tree/contradictions.js';
import { RoundList } from './tree/round-list.js';
import { TreeView } from './tree/tree-view.js';
import { useSteer } from './use-steer.js';

export interface ResearchViewProps {
  readonly item: ResearchItem;
  readonly store: ResearchStore;
  readonly shown: ResearchShown;
  readonly connection: Connection;
}

export function ResearchView({ item, store, shown, connection }: ResearchViewProps) {
  const words = useTexts(screenTexts);
  const steering = useSteer(item.id, store);
  const isAtWork = !isOver(shown);
  const question = shown.question || item.question || '';
  const again = againAddress(question, settingsOfRequest(shown.settings));
  return (
    <div className={style.page}>
      <Link href="/research" className={style.back}>
        <ArrowLeft size={14} aria-hidden="true" /> {words.all}
      </Link>
      <h1 className={style.asked}>{question || words.loading}</h1>
      <Standing shown={shown} />
      <ConnectionNote connection={connection} />
      {shown.error !== undefined && (
        <p role="alert" className={style.failure}>
          {shown.status === 'cancelled' ? words.cancelled : `${words.failed} ${shown.error.message}`}
        </p>
      )}
      {isAtWork && shown.lastSeq > 0 && <SteerBar steering={steering} />}
      {shown.clarify !== undefined && <ClarifyQuestions form={shown.clarify} steering={steering} />}
      {shown.picture.planned !== undefined && isAtWork && (
        <PlanPanel run={item.id} planned={shown.picture.planned} isWaiting={shown.isWaiting} steering={steering} />
      )}
      <div className={style.halves}>
        <div className={style.half}>
          <TreeView shown={shown} steering={isAtWork ? steering : undefined} />
          <RoundList rounds={shown.rounds} />
          <Contradictions shown={shown} />
          <ChangeList shown={shown} />
        </div>
        <div className={style.half}>
          <ReportView shown={shown} />
          {shown.final !== undefined && <ReportEnd final={shown.final} run={item.id} again={again} />}
          <BudgetBars shown={shown} agent={item.agent_id} run={item.id} />
        </div>
      </div>
    </div>
  );
}

/** How it stands, how long it took, what it used. */
function Standing({ shown }: { readonly shown: ResearchShown }) {
  const words = useTexts(screenTexts);
  const { language } = useChoices();
  const { status, startedAt, lastAt, budget } = shown;
  return (
    <p className={style.facts} role="status">
      <StatusTag status={shown.isWaiting || shown.clarify !== undefined ? 'waiting' : status} />
      {isOver(shown) && <span>{formatMs(lastAt - startedAt)}</span>}
      {isOver(shown) && budget !== undefined && <span>{words.tokens(budget.tokens.toLocaleString(language))}</span>}
    </p>
  );
}
