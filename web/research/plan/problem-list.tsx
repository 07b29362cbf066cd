/** What is wrong with a plan, or with one of its tasks. */
import type { PlanProblem } from '../../../src/research/plan/task-plan.js';
import style from '../research.module.css';

export function ProblemList({ problems, id }: { readonly problems: readonly PlanProblem[]; readonly id?: string }) {
  if (problems.length === 0) return null;
  return (
    <ul id={id} className={style.problems}>
      {problems.map(({ path, problem }) => (
        <li key={`${path} ${problem}`}>
          {path !== '' && <code>{path}</code>} {problem}
        </li>
      ))}
    </ul>
  );
}
