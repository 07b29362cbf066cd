/** A research at a terminal. */
import { isFact } from '../../research/deep/fold-research.js';
import { orderOfTasks } from '../../research/plan/review-plan.js';
import type { TaskPlan } from '../../research/plan/task-plan.js';
import type { ResearchEvent } from '../../research/research-events.js';
import type { Terminal } from '../terminal.js';

/** Prints a research as it goes on: the report to the standard output, everything else to the standard error. */
export class ResearchPrinter {
  readonly #terminal: Pick<Terminal, 'out' | 'err'>;
  readonly #isJson: boolean;
  /** Levels of questions, by id. */
  readonly #levels = new Map<string, number>();

  constructor(terminal: Pick<Terminal, 'out' | 'err'>, isJson: boolean) {
    this.#terminal = terminal;
    this.#isJson = isJson;
  }

  print(event: ResearchEvent): void {
    const { out, err } = this.#terminal;
    if (this.#isJson) {
      out.write(`${JSON.stringify(event)}\n`);
      return;
    }
    switch (event.type) {
      case 'clarify':
        err.write('What the question means:\n');
        return;
      case 'plan':
        this.#printPlan(event.plan);
        return;
      case 'plan_changed':
        err.write('The plan has changed:\n');
        this.#printPlan(event.plan);
        return;
      case 'task_started':
        err.write(`> ${event.task_id} ${event.tool}\n`);
        return;
      case 'task_finished':
        if (event.status !== 'done') err.write(`- ${event.task_id} ${event.status}: ${event.problem ?? ''}\n`);
        return;
      case 'question': {
        const level = Math.max(0, ...event.depends_on.map((id) => (this.#levels.get(id) ?? 0) + 1));
        this.#levels.set(event.id, level);
        err.write(`${'  '.repeat(level)}? ${event.text}\n`);
        return;
      }
      case 'finding': {
        const indent = '  '.repeat(this.#levels.get(event.question) ?? 0);
        const isKnown = isFact(event);
        err.write(`${indent}${isKnown ? `+ ${event.text} ${event.answer}` : `- ${event.text}`}\n`);
        return;
      }
      case 'gap':
        err.write(`= ${event.action.replaceAll('_', ' ')}\n`);
        return;
      case 'token':
        out.write(event.content);
        return;
      case 'retract':
        err.write(`\n${event.reason}; what follows counts\n`);
        return;
      case 'final':
        out.write('\n');
        for (const { n, source, url } of event.sources)
          err.write(`[${n}] ${source}${url === undefined ? '' : ` ${url}`}\n`);
        return;
      case 'error':
        err.write(`error: ${event.message}\n`);
        return;
      default:
        return;
    }
  }

  #printPlan({ tasks, issues }: TaskPlan): void {
    const { err } = this.#terminal;
    for (const id of orderOfTasks(tasks)) {
      const task = tasks.find(({ task_id }) => task_id === id);
      if (task === undefined) continue;
      const behind = task.depends_on.length === 0 ? '' : ` (behind ${task.depends_on.join(', ')})`;
      err.write(`  ${id} ${task.tool}: ${task.description}${behind}\n`);
    }
    for (const issue of issues) err.write(`  ! ${issue}\n`);
  }
}
