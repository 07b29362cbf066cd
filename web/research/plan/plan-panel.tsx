/** The plan of a research at work: it is approved, and changed. */
import { Check, Pencil, X } from 'lucide-react';
import { useState } from 'react';
import type { PicturedPlan } from '../../../src/research/deep/fold-research.js';
import type { TaskPlan } from '../../../src/research/plan/task-plan.js';
import { Button } from '../../parts/button.js';
import { useTexts } from '../../shell/texts.js';
import style from '../research.module.css';
import type { Steering } from '../use-steer.js';
import { PlanEditor } from './plan-editor.js';
import { planTexts } from './plan-texts.js';

export interface PlanPanelProps {
  readonly run: string;
  readonly planned: PicturedPlan;
  /** It waits to be approved. */
  readonly isWaiting: boolean;
  readonly steering: Steering;
}

export function PlanPanel({ run, planned, isWaiting, steering }: PlanPanelProps) {
  const words = useTexts(planTexts);
  /** The plan as it was when its change began. */
  const [edited, setEdited] = useState<TaskPlan>();
  const { plan } = planned;
  const { steer, isBusy } = steering;
  return (
    <section className={isWaiting ? style.waiting : style.part} aria-label={words.title}>
      <h2>{words.title}</h2>
      <p role="status">{isWaiting ? words.waits : words.works}</p>
      {plan.issues.length > 0 && (
        <p className={style.soft}>
          {words.issues} {plan.issues.join(' · ')}
        </p>
      )}
      {edited === undefined ? (
        <div className={style.buttons}>
          {isWaiting && (
            <Button look="main" disabled={isBusy} onClick={() => void steer({ action: 'approve' })}>
              <Check size={16} aria-hidden="true" /> {words.approve}
            </Button>
          )}
          <Button disabled={isBusy} onClick={() => setEdited(plan)}>
            <Pencil size={16} aria-hidden="true" /> {words.edit}
          </Button>
          {isWaiting && (
            <Button disabled={isBusy} onClick={() => void steer({ action: 'enough' })}>
              <X size={16} aria-hidden="true" /> {words.reject}
            </Button>
          )}
        </div>
      ) : (
        <PlanEditor
          run={run}
          edited={edited}
          planned={planned}
          isChanged={edited !== plan}
          onClose={() => setEdited(undefined)}
        />
      )}
    </section>
  );
}
