/** What a research comes to, counted from what its node tells. */
import { isJsonObject, type JsonObject } from '../json.js';

/** Name of the notices in which a research tells of itself; its node gives it. */
export const RESEARCH_NOTICE = 'research';

/** The output of its node that holds its last event. */
const RESEARCH_OUTPUT = 'research';

/** Sub-questions whose verdicts are kept. */
const MAX_FINDINGS = 1_000;

/** Folds the events of one research; what a process tells again that goes on with it counts once. */
export class ResearchTally {
  /** Verdicts by sub-question. */
  readonly verdicts = new Map<string, string>();
  /** How its budget stood last, as its event `budget` tells; undefined before one. */
  budget: JsonObject | undefined = undefined;
  /** Its last event; undefined before that. */
  final: JsonObject | undefined = undefined;
  #rounds = 0;
  #replans = 0;
  #isPlanned = false;

  /** Rounds of questions; of a plan, times that tasks were carried out. */
  get rounds(): number {
    return this.#isPlanned ? this.#replans + 1 : this.#rounds;
  }

  told(event: JsonObject): void {
    const { type, round, question, verdict, by } = event;
    if (type === 'question' && typeof round === 'number') this.#rounds = Math.max(this.#rounds, round);
    else if (type === 'finding' && this.verdicts.size < MAX_FINDINGS) {
      this.verdicts.set(String(question), String(verdict));
    } else if (type === 'budget') this.budget = event;
    else if (type === 'plan') this.#isPlanned = true;
    else if (type === 'plan_changed' && by === 'planner') this.#replans += 1;
  }

  /** The node has settled with these outputs. */
  settled(outputs: JsonObject): void {
    const final = Object.hasOwn(outputs, RESEARCH_OUTPUT) ? outputs[RESEARCH_OUTPUT] : undefined;
    if (!isJsonObject(final)) return;
    this.final = final;
    if (isJsonObject(final.budget)) this.budget = final.budget;
  }
}
