/** How good the answer of a chat to a golden question is. */
import type { ChatEvent } from '../pipeline/chat-events.js';
import { STAGES, type StageNumber } from '../pipeline/stage-table.js';
import { folded, type GoldenQuestion } from './golden-file.js';

/** How a chat ended. */
export type ChatEnd = Extract<ChatEvent, { type: 'final' | 'error' }>;

/** What an answer is worth. */
export interface AnswerScore {
  /** Whether the answer holds the keywords. */
  readonly keywordPass: boolean;
  /** Whether an expected document is among the evidence; of a question that cannot be answered, whether there is none. */
  readonly sourcePass: boolean;
  /** Share of the citations whose evidence holds the numbers and words of the statement, 0 to 1; undefined without citations. */
  readonly citationPrecision: number | undefined;
  /** Whether a question that the documents answer was cut short, or failed. */
  readonly wrongShortcut: boolean;
}

/** Scores one answer. A chat that failed passes nothing. */
export function scoreAnswer(question: GoldenQuestion, end: ChatEnd): AnswerScore {
  if (end.type === 'error') {
    return { keywordPass: false, sourcePass: false, citationPrecision: undefined, wrongShortcut: question.answerable };
  }
  const { response, evidence, citations, shortcut } = end;
  const sources = evidence.map(({ source }) => folded(source));
  const isFound = (wanted: string): boolean => sources.some((source) => source.includes(folded(wanted)));
  const { answerable, expected_sources: expected } = question;
  const hasSource = expected.length === 0 ? evidence.length > 0 : expected.some(isFound);
  const supported = citations.filter((one) => one.supported).length;
  return {
    keywordPass: hasKeywords(question, response),
    sourcePass: answerable ? hasSource : shortcut !== null || evidence.length === 0,
    citationPrecision: citations.length === 0 ? undefined : supported / citations.length,
    wrongShortcut: answerable && shortcut !== null,
  };
}

function hasKeywords({ expected_keywords: keywords, match }: GoldenQuestion, response: string): boolean {
  const said = folded(response);
  const isSaid = (keyword: string): boolean => said.includes(folded(keyword));
  if (keywords.length === 0) return true;
  return match === 'all' ? keywords.every(isSaid) : keywords.some(isSaid);
}

/** Times of a stage over all chats, in milliseconds. */
export interface StageTimes {
  readonly stage: StageNumber;
  readonly name: string;
  readonly p50: number;
  readonly p99: number;
  readonly budgetMs: number;
  /** Chats in which it took longer than its budget. */
  readonly overBudget: number;
  /** Chats in which it ran. */
  readonly ran: number;
}

/** How long each stage took where it ran. */
export function stageTimes(ends: readonly ChatEnd[]): readonly StageTimes[] {
  const stages = ends.flatMap((end) => (end.type === 'final' ? end.stages : []));
  return ([1, 2, 3, 4, 5, 6, 7, 8] as const).map((stage) => {
    const { name, budgetMs } = STAGES[stage];
    const took = stages
      .filter((one) => one.stage === stage && one.status !== 'skipped' && one.status !== 'cancelled')
      .map(({ ms }) => ms)
      .sort((left, right) => left - right);
    const at = (share: number): number => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0;
    const overBudget = budgetMs === 0 ? 0 : took.filter((ms) => ms > budgetMs).length;
    return { stage, name, p50: at(0.5), p99: at(0.99), budgetMs, overBudget, ran: took.length };
  });
}
