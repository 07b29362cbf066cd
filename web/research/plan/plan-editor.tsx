/** Changes the tasks of a plan; the server says what is wrong with them, each problem beside its task. */
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { PicturedPlan } from '../../../src/research/deep/fold-research.js';
import type { Task, TaskPlan } from '../../../src/research/plan/task-plan.js';
import { Button } from '../../parts/button.js';
import { FailureLine } from '../../parts/failure-line.js';
import { useClient } from '../../shell/studio.js';
import { useTexts } from '../../shell/texts.js';
import style from '../research.module.css';
import { problemsOf, putPlan } from '../research-server.js';
import { changedTask, problemsAt, readArgs, withoutTask, withTask } from './plan-edits.js';
import { planTexts } from './plan-texts.js';
import { ProblemList } from './problem-list.js';
import { TaskFields } from './task-fields.js';

export interface PlanEditorProps {
  readonly run: string;
  /** The plan as it was when the change began. */
  readonly edited: TaskPlan;
  readonly planned: PicturedPlan;
  /** The plan is another one by now. */
  readonly isChanged: boolean;
  readonly onClose: () => void;
}

export function PlanEditor({ run, edited, planned, isChanged, onClose }: PlanEditorProps) {
  const words = useTexts(planTexts);
  const client = useClient();
  const [tasks, setTasks] = useState(edited.tasks as readonly Task[]);
  /** Arguments as they are written, by the id of their task: of those that were changed. */
  const [argsTexts, setArgsTexts] = useState<ReadonlyMap<string, string>>(new Map());
  const [isBusy, setIsBusy] = useState(false);
  const [isTried, setIsTried] = useState(false);
  const [error, setError] = useState<unknown>();
  const problems = problemsOf(error);
  const isUnread = tasks.some(({ task_id }) => 'problem' in readArgs(argsTexts.get(task_id) ?? ''));
  const keepText = (id: string, text: string | undefined) =>
    setArgsTexts((now) => {
      const next = new Map(now);
      if (text === undefined) next.delete(id);
      else next.set(id, text);
      return next;
    });
  const change = (id: string, to: Partial<Task>) => {
    // Arguments are of a tool.
    if (to.tool !== undefined) keepText(id, undefined);
    setTasks((now) => changedTask(now, id, to));
  };
  const save = async () => {
    setIsTried(true);
    setError(undefined);
    if (isUnread) return;
    setIsBusy(true);
    try {
      await putPlan(client, run, tasks);
      onClose();
    } catch (failure) {
      setError(failure);
      setIsBusy(false);
    }
  };
  const taken = new Set([...planned.tasks.keys(), ...planned.plan.tasks.map(({ task_id }) => task_id)]);
  return (
    <form
      className={style.editor}
      aria-label={words.editor}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {isChanged && <p className={style.soft}>{words.changed}</p>}
      {tasks.map((task, at) => (
        <TaskFields
          key={task.task_id}
          task={task}
          tools={planned.tools}
          others={tasks.flatMap(({ task_id }) => (task_id === task.task_id ? [] : [task_id]))}
          hasBegun={planned.tasks.has(task.task_id)}
          problems={problemsAt(problems, at)}
          argsText={argsTexts.get(task.task_id)}
          onArgs={(text, args) => {
            keepText(task.task_id, text);
            if (args !== undefined) change(task.task_id, { args });
          }}
          onChange={(to) => change(task.task_id, to)}
          onRemove={() => {
            keepText(task.task_id, undefined);
            setTasks((now) => withoutTask(now, task.task_id));
          }}
        />
      ))}
      <Button className={style.own} onClick={() => setTasks((now) => withTask(now, planned.tools[0] ?? '', taken))}>
        <Plus size={16} aria-hidden="true" /> {words.add}
      </Button>
      {problems.length > 0 && <p role="alert">{words.refused}</p>}
      {isTried && isUnread && <p role="alert">{words.unread}</p>}
      <ProblemList problems={problemsAt(problems, -1)} />
      {error !== undefined && problems.length === 0 && <FailureLine error={error} />}
      <div className={style.buttons}>
        <Button type="submit" look="main" disabled={isBusy}>
          {words.save}
        </Button>
        <Button onClick={onClose}>{words.discard}</Button>
      </div>
    </form>
  );
}
