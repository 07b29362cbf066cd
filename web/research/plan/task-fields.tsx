/** The fields of one task of a plan. */
import { Trash2 } from 'lucide-react';
import { useId } from 'react';
import type { PlanProblem, Task } from '../../../src/research/plan/task-plan.js';
import { IconButton } from '../../parts/button.js';
import { useTexts } from '../../shell/texts.js';
import style from '../research.module.css';
import { ArgsField, type ArgsFieldProps } from './args-field.js';
import { takesArgs } from './plan-edits.js';
import { planTexts } from './plan-texts.js';
import { ProblemList } from './problem-list.js';

export interface TaskFieldsProps {
  readonly task: Task;
  /** Names of the tools that there are. */
  readonly tools: readonly string[];
  /** Ids of the other tasks. */
  readonly others: readonly string[];
  readonly hasBegun: boolean;
  readonly problems: readonly PlanProblem[];
  /** Arguments as they are written, where they are not read yet. */
  readonly argsText: string | undefined;
  readonly onArgs: ArgsFieldProps['onWrite'];
  readonly onChange: (change: Partial<Task>) => void;
  readonly onRemove: () => void;
}

export function TaskFields(props: TaskFieldsProps) {
  const { task, tools, others, hasBegun, problems, argsText, onArgs, onChange, onRemove } = props;
  const words = useTexts(planTexts);
  const problemsId = useId();
  const { task_id: id, description, tool, priority, depends_on: needed, expects } = task;
  const check = (other: string, isNeeded: boolean) =>
    onChange({ depends_on: isNeeded ? [...needed, other] : needed.filter((one) => one !== other) });
  return (
    <fieldset
      className={style.task}
      disabled={hasBegun}
      aria-describedby={problems.length > 0 ? problemsId : undefined}
    >
      <legend>{words.task(id)}</legend>
      {hasBegun && <p className={style.soft}>{words.begun}</p>}
      <label className={style.field}>
        {words.description}
        <textarea rows={2} value={description} onChange={({ target }) => onChange({ description: target.value })} />
      </label>
      <div className={style.fields}>
        <label>
          {words.tool}{' '}
          <select value={tool} onChange={({ target }) => onChange({ tool: target.value })}>
            {(tools.includes(tool) ? tools : [tool, ...tools]).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          {words.priority}{' '}
          <input
            type="number"
            value={priority}
            onChange={({ target }) => onChange({ priority: target.valueAsNumber || 0 })}
          />
        </label>
        <IconButton label={words.remove(id)} onClick={onRemove}>
          <Trash2 size={16} aria-hidden="true" />
        </IconButton>
      </div>
      {(takesArgs(task) || argsText !== undefined) && <ArgsField args={task.args} text={argsText} onWrite={onArgs} />}
      <label className={style.field}>
        {words.expects}
        <input value={expects} onChange={({ target }) => onChange({ expects: target.value })} />
      </label>
      {others.length > 0 && (
        <fieldset className={style.checks} aria-label={words.dependsOn}>
          <legend>{words.dependsOn}</legend>
          {others.map((other) => (
            <label key={other}>
              <input
                type="checkbox"
                checked={needed.includes(other)}
                onChange={({ target }) => check(other, target.checked)}
              />{' '}
              {other}
            </label>
          ))}
        </fieldset>
      )}
      <ProblemList id={problemsId} problems={problems} />
    </fieldset>
  );
}
