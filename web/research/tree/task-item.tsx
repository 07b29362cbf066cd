/** A task of the plan: what it does with which tool, how it stands, and its questions. */
import { formatMs } from '../../../src/canvas/timeline-rows.js';
import { useTexts } from '../../shell/texts.js';
import style from '../research.module.css';
import type { Steering } from '../use-steer.js';
import { ItemTools } from './item-tools.js';
import { MarkTag } from './mark-tag.js';
import { QuestionItem } from './question-item.js';
import { SearchLine } from './search-line.js';
import type { TreeTask } from './tree-model.js';
import { treeTexts } from './tree-texts.js';

export interface TaskItemProps extends TreeTask {
  readonly steering: Steering | undefined;
}

export function TaskItem({ task, mark, ms, problem, searched, children, steering }: TaskItemProps) {
  const words = useTexts(treeTexts);
  const { task_id: id, description, tool, depends_on: needed, expects } = task;
  const word = words.taskMarks[mark] ?? words.marks[mark];
  return (
    <li className={style.item} data-mark={mark} aria-label={words.named(description, word)}>
      <div className={style.line}>
        <MarkTag mark={mark} word={word} />
        <span className={style.text}>{description}</span>
        {mark === 'queued' && steering !== undefined && <ItemTools id={id} text={description} steering={steering} />}
      </div>
      <p className={style.facts}>
        <code>{id}</code>
        <code>{tool}</code>
        {needed.length > 0 && <span>{words.waitsFor(needed.join(', '))}</span>}
        {expects !== '' && <span>{words.expects(expects)}</span>}
        {ms !== undefined && <span>{formatMs(ms)}</span>}
      </p>
      {problem !== undefined && <p className={style.failure}>{problem}</p>}
      <SearchLine searched={searched} />
      {children.length > 0 && (
        <ul className={style.tree}>
          {children.map((one) => (
            <QuestionItem key={one.question.id} {...one} steering={steering} canChange={false} />
          ))}
        </ul>
      )}
    </li>
  );
}
