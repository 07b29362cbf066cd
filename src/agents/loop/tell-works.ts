/** What an agent is told at its safe points of its work in the background. */
import type { StepActivation } from '../../compose/step.js';
import type { AgentWithWork } from './agent-in-graph.js';
import { backgroundAt, changeWorks, TOLD, untold } from './background-state.js';
import { loopAt } from './loop-state.js';

/** Tells of works that have ended; what has been told is not told again. */
export function tellWorks({ background }: AgentWithWork, at: StepActivation): void {
  const works = untold(backgroundAt(at).value);
  if (works.length === 0) return;
  const number = Math.max(...works.map((work) => work.number));
  loopAt(at).append('messages', { role: 'user', content: background.ended(works), extra: { work: number } });
  changeWorks(at, (work) => (works.includes(work) ? TOLD : undefined));
  at.emit('work-told', { works: works.map(({ id }) => id) });
}
