/** A model that plays the true steps of questions, so that researches run without a model: in tests, in evaluations, and as an example. */
import { defer, from, type Observable } from 'rxjs';
import { z } from 'zod';
import { isJsonObject, type JsonObject, parseJson } from '../../json.js';
import type { ChatDelta, ChatModel, ChatRequest } from '../../models/chat-model.js';
import { contentText } from '../../models/chat-model.js';
import { estimateTokens } from '../../models/estimate-tokens.js';
import { withAnswers } from '../deep/sub-questions.js';

const stepSchema = z.object({
  id: z.string(),
  /** With `{id}` where the answer of an earlier step belongs. */
  question: z.string(),
  depends_on: z.array(z.string()).default([]),
  /** Empty: the corpus does not say it. */
  answer: z.string(),
  /** Ids of the passages that say it. */
  passages: z.array(z.string()),
});

const scriptSchema = z.object({ question: z.string(), steps: z.array(stepSchema).min(1) });

/** A question and the steps by which it is answered. */
export type ScriptedQuestion = Readonly<z.output<typeof scriptSchema>>;

/** Reads scripts, one JSON object a line. @throws ZodError */
export function readScripts(lines: string): readonly ScriptedQuestion[] {
  return lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => scriptSchema.parse(parseJson(line)));
}

/** Answers by the scripts: a step is read right when one of its passages, by id, text or name of its file, is in the evidence, and is not there else. Other questions have no answer. */
export function createScriptedPlanner(
  scripts: readonly ScriptedQuestion[],
  texts: ReadonlyMap<string, string> = new Map(),
): ChatModel {
  const planner = new Planner(scripts, texts);
  return { chat: (request) => answered(request, (input) => planner.answer(request.jsonSchema?.name, input)) };
}

function answered(request: ChatRequest, answer: (input: JsonObject) => JsonObject | string): Observable<ChatDelta> {
  return defer(() => {
    const message = request.messages.at(-1);
    const content = message === undefined ? '' : contentText(message.content as never);
    const input = parseJson(content);
    const given = answer(isJsonObject(input) ? input : {});
    const text = typeof given === 'string' ? given : JSON.stringify(given);
    const promptTokens = request.messages.reduce((sum, one) => sum + estimateTokens(String(one.content)), 0);
    const completionTokens = estimateTokens(text);
    const usage = { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
    return from<ChatDelta[]>([
      { type: 'text', text },
      { type: 'usage', ...usage },
      { type: 'finish', reason: 'stop' },
    ]);
  });
}

interface ScriptedStep {
  readonly question: string;
  readonly answer: string;
  readonly passages: readonly string[];
}

class Planner {
  readonly #scripts: ReadonlyMap<string, ScriptedQuestion>;
  /** By the question with earlier answers in it. */
  readonly #steps = new Map<string, ScriptedStep>();
  readonly #texts: ReadonlyMap<string, string>;

  constructor(scripts: readonly ScriptedQuestion[], texts: ReadonlyMap<string, string>) {
    this.#texts = texts;
    this.#scripts = new Map(scripts.map((one) => [one.question, one]));
    for (const { steps } of scripts) {
      const questions = questionsOf(steps);
      for (const [at, step] of steps.entries()) {
        const question = questions[at] as string;
        this.#steps.set(question, { question, answer: step.answer, passages: step.passages });
      }
    }
  }

  answer(name: string | undefined, input: JsonObject): JsonObject | string {
    switch (name) {
      case 'research_clarify':
        return { needs_clarification: false, questions: [] };
      case 'research_decompose':
        return this.#decompose(input);
      case 'research_read':
        return this.#read(input);
      case 'research_validate':
        return { sufficient: this.#isSufficient(input), missing: [], contradictions: [] };
      case 'research_followups':
        return { questions: [] };
      case 'research_verify':
        return this.#verify(input);
      case 'report_outline':
        return {
          sections: [{ title: text(input.question), findings: listOf(input.findings).map(({ id }) => text(id)) }],
        };
      case 'report_check':
        return { problems: [] };
      case 'plan_review':
        return { status: 'ready', issues: [] };
      default:
        return written(input);
    }
  }

  #decompose({ question }: JsonObject): JsonObject {
    const script = this.#scripts.get(text(question));
    const steps = script?.steps ?? [];
    const sub_questions = steps.map(({ id, question: one, depends_on }) => ({ id, question: one, depends_on }));
    return { question_type: steps.length > 1 ? 'relational' : 'factual', sub_questions };
  }

  #read({ question, evidence }: JsonObject): JsonObject {
    const step = this.#steps.get(text(question));
    const held = listOf(evidence).find((one) => this.#isOf(step, one));
    if (step === undefined || step.answer === '' || held === undefined) {
      return { answer: '', supported_by: [], confidence: 0 };
    }
    return { answer: step.answer, supported_by: [text(held.id)], confidence: 0.9 };
  }

  #isOf(step: ScriptedStep | undefined, { id, text: read, source }: JsonObject): boolean {
    const name = text(source);
    return (
      step?.passages.some(
        (one) => one === id || (this.#texts.get(one) ?? one) === read || name.startsWith(`${one}.`),
      ) ?? false
    );
  }

  /** All steps of the question are among the findings. */
  #isSufficient({ question, findings }: JsonObject): boolean {
    const steps = this.#scripts.get(text(question))?.steps ?? [];
    const found = new Set(listOf(findings).map((finding) => text(finding.question)));
    return steps.length > 0 && questionsOf(steps).every((one) => found.has(one));
  }

  #verify({ claim, evidence }: JsonObject): JsonObject {
    const said = text(claim);
    for (const step of this.#steps.values()) {
      if (said !== `${step.question} ${step.answer}` || step.answer === '') continue;
      const held = listOf(evidence).filter((one) => this.#isOf(step, one));
      if (held.length > 0) return { verdict: 'supported', evidence: held.map(({ id }) => text(id)) };
    }
    return { verdict: 'unsupported', evidence: [] };
  }
}

/** The questions of steps with earlier answers in them. */
function questionsOf(steps: ScriptedQuestion['steps']): readonly string[] {
  const answers = new Map(steps.map(({ id, answer }) => [id, answer]));
  return steps.map((step) => withAnswers(step, answers));
}

/** The findings as sentences, each with its citations. */
function written({ findings }: JsonObject): string {
  return listOf(findings)
    .map(({ question, answer, cite }) => {
      const marks = Array.isArray(cite) ? cite.map((n) => ` [${String(n)}]`).join('') : '';
      return `${text(question).replace(/[?？]$/, '')}: ${text(answer)}${marks}.`;
    })
    .join('\n');
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
