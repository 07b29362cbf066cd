/** What a research asks at a terminal: what the question means, and whether its plan is carried out. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { EngineError } from '../../errors.js';
import { parseJson } from '../../json.js';
import { readChangedPlan } from '../../research/plan/change-plan.js';
import type { TaskPlan } from '../../research/plan/task-plan.js';
import type { ClarifyQuestion, ResearchEvent } from '../../research/research-events.js';
import type { Terminal } from '../terminal.js';
import type { ResearchSource } from './research-source.js';

/** Asks people, and keeps what they say as changes of the research. */
export class Questioner {
  readonly #terminal: Terminal;
  readonly #source: Pick<ResearchSource, 'steer'>;
  #run = '';
  #lines: Interface | undefined;
  #read: AsyncIterator<string> | undefined;

  constructor(terminal: Terminal, source: Pick<ResearchSource, 'steer'>) {
    this.#terminal = terminal;
    this.#source = source;
  }

  /** Asks where an event waits for an answer; gives the event when that is kept. */
  async answered(event: ResearchEvent): Promise<ResearchEvent> {
    if (event.type === 'session') this.#run = event.run_id;
    if (event.type === 'clarify') {
      const answers: Record<string, string> = {};
      for (const one of event.form.questions) answers[one.id] = await this.#ask(`${askedAs(one)} `);
      await this.#source.steer(this.#run, { action: 'clarify', answers });
    }
    if (event.type === 'plan' && event.waits) await this.#approve(event.plan, event.tools);
    return event;
  }

  async #approve(plan: TaskPlan, tools: readonly string[]): Promise<void> {
    for (;;) {
      const said = (await this.#ask('Carry it out? y, edit or n: ')).toLowerCase();
      if (said === 'y' || said === 'yes') return this.#source.steer(this.#run, { action: 'approve' });
      if (said === 'n' || said === 'no' || said === '') return this.#source.steer(this.#run, { action: 'enough' });
      if (said !== 'e' && said !== 'edit') continue;
      const changed = await this.#edited(plan, tools);
      if (changed === undefined) continue;
      await this.#source.steer(this.#run, { action: 'plan', plan: changed });
      return this.#source.steer(this.#run, { action: 'approve' });
    }
  }

  /** The plan as a person has changed it in a file; undefined where it cannot be carried out, which is said. */
  async #edited(plan: TaskPlan, tools: readonly string[]): Promise<TaskPlan | undefined> {
    const folder = await mkdtemp(path.join(tmpdir(), 'runnel-plan-'));
    try {
      const file = path.join(folder, 'plan.json');
      await writeFile(file, `${JSON.stringify({ tasks: plan.tasks }, null, 2)}\n`);
      await this.#ask(`The tasks are in ${file}; change them there, then press Enter. `);
      return readChangedPlan(parseJson(await readFile(file, 'utf8')), plan, { begun: new Set(), tools });
    } catch (error) {
      if (!EngineError.is(error)) throw error;
      this.#terminal.err.write(`${error.message}\n`);
      return undefined;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Gives the input back. */
  close(): void {
    this.#lines?.close();
  }

  /** One line; empty where the input is over. */
  async #ask(question: string): Promise<string> {
    this.#terminal.err.write(question);
    // One reader for all questions: another one would lose what this one has read ahead.
    this.#lines ??= createInterface({ input: this.#terminal.openInput(), crlfDelay: Number.POSITIVE_INFINITY });
    this.#read ??= this.#lines[Symbol.asyncIterator]();
    const { value, done } = await this.#read.next();
    return done === true ? '' : value.trim();
  }
}

/** With its options, and in brackets what an empty line means. */
function askedAs({ question, options = [], default: usual }: ClarifyQuestion): string {
  const choice = options.length === 0 ? '' : ` (${options.join(' / ')})`;
  return `${question}${choice}${usual === '' ? '' : ` [${usual}]`}`;
}
