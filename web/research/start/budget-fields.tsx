/** What a research may spend, folded. */
import { useState } from 'react';
import { useTexts } from '../../shell/texts.js';
import style from '../research.module.css';
import { LIMITS, type StartSettings } from './start-settings.js';
import { startTexts } from './start-texts.js';

export interface BudgetFieldsProps {
  readonly budget: StartSettings['budget'];
  readonly onChange: (budget: StartSettings['budget']) => void;
}

export function BudgetFields({ budget, onChange }: BudgetFieldsProps) {
  const words = useTexts(startTexts);
  const [isOpen] = useState(Object.keys(budget).length > 0);
  return (
    <details className={style.budget} open={isOpen}>
      <summary>{words.budget}</summary>
      <p className={style.soft}>{words.budgetHint}</p>
      <div className={style.fields}>
        {LIMITS.map((name) => (
          <label key={name}>
            {words.limits[name]}{' '}
            <input
              type="number"
              min={0}
              step={name === 'money' ? 'any' : 1}
              value={budget[name] ?? ''}
              onChange={({ target }) => {
                const { [name]: _, ...others } = budget;
                const value = target.valueAsNumber;
                onChange(value >= 0 ? { ...others, [name]: value } : others);
              }}
            />
          </label>
        ))}
      </div>
    </details>
  );
}
