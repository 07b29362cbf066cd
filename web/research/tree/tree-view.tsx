/** Tasks, questions and what follows from them, as nested lists. */
import { useMemo } from 'react';
import { useTexts } from '../../shell/texts.js';
import style from '../research.module.css';
import type { ResearchShown } from '../research-picture.js';
import type { Steering } from '../use-steer.js';
import { QuestionItem } from './question-item.js';
import { SearchLine } from './search-line.js';
import { TaskItem } from './task-item.js';
import { treeOf } from './tree-model.js';
import { treeTexts } from './tree-texts.js';

export interface TreeViewProps {
  readonly shown: ResearchShown;
  /** Undefined once nothing can be changed. */
  readonly steering: Steering | undefined;
}

export function TreeView({ shown, steering }: TreeViewProps) {
  const words = useTexts(treeTexts);
  const { tasks, questions, searched } = useMemo(() => treeOf(shown), [shown]);
  const isPlanned = tasks.length > 0;
  return (
    <section className={style.part} aria-label={words.title}>
      <h2>{words.title}</h2>
      {tasks.length + questions.length === 0 && <p className={style.soft}>{words.empty}</p>}
      <SearchLine searched={searched} of={words.whole} />
      <ul className={style.tree}>
        {tasks.map((one) => (
          <TaskItem key={one.task.task_id} {...one} steering={steering} />
        ))}
        {questions.map((one) => (
          // In a research by a plan, changes mean tasks.
          <QuestionItem key={one.question.id} {...one} steering={steering} canChange={!isPlanned} />
        ))}
      </ul>
    </section>
  );
}
