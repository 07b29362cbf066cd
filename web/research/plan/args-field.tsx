/** The arguments that the tool of a task is called with, as JSON. */
import { useId } from 'react';
import type { Task } from '../../../src/research/plan/task-plan.js';
import { useTexts } from '../../shell/texts.js';
import style from '../research.module.css';
import { readArgs, textOfArgs } from './plan-edits.js';
import { planTexts } from './plan-texts.js';

export interface ArgsFieldProps {
  readonly args: Task['args'];
  /** What is written and is not read yet. */
  readonly text: string | undefined;
  /** `args` is absent while the text cannot be read. */
  readonly onWrite: (text: string, args: Task['args'] | undefined) => void;
}

export function ArgsField({ args, text = textOfArgs(args), onWrite }: ArgsFieldProps) {
  const words = useTexts(planTexts);
  const id = useId();
  const read = readArgs(text);
  const write = (next: string) => {
    const given = readArgs(next);
    onWrite(next, 'args' in given ? given.args : undefined);
  };
  return (
    <>
      <label className={style.field}>
        {words.args}
        <textarea
          className={style.json}
          rows={Math.min(8, Math.max(2, text.split('\n').length))}
          spellCheck={false}
          value={text}
          aria-invalid={'problem' in read}
          aria-describedby={'problem' in read ? id : undefined}
          onChange={({ target }) => write(target.value)}
        />
      </label>
      {'problem' in read && (
        <p id={id} className={style.failure} role="status">
          {read.problem === 'json' ? words.noJson(read.line, read.column) : words.noObject}
        </p>
      )}
    </>
  );
}
