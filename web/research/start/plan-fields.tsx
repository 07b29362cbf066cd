/** Whether a research is planned first, and what goes with a plan. */
import { useTexts } from '../../shell/texts.js';
import style from '../research.module.css';
import { OUTPUTS, type StartSettings } from './start-settings.js';
import { startTexts } from './start-texts.js';

export interface PlanFieldsProps {
  readonly settings: StartSettings;
  readonly onChange: (change: Partial<StartSettings>) => void;
}

export function PlanFields({ settings, onChange }: PlanFieldsProps) {
  const words = useTexts(startTexts);
  const check = (name: 'plan' | 'approve' | 'clarify') => (
    <label>
      <input type="checkbox" checked={settings[name]} onChange={({ target }) => onChange({ [name]: target.checked })} />{' '}
      {words[name]}
    </label>
  );
  return (
    <div className={style.fields}>
      {check('plan')}
      {settings.plan && check('approve')}
      {settings.plan && check('clarify')}
      {settings.plan && (
        <label>
          {words.output}{' '}
          <select
            value={settings.output}
            onChange={({ target }) => onChange({ output: OUTPUTS.find((one) => one === target.value) ?? 'answer' })}
          >
            {OUTPUTS.map((output) => (
              <option key={output} value={output}>
                {words.outputs[output]}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}
