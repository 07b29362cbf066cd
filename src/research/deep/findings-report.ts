/** Reports without a model: findings in their order, what is not known, and what contradicts itself. */
import type { ExhaustedLimit } from '../calls/budget.js';
import type { CitedEvidence, ReportLanguage } from '../evidence/check-report.js';
import type { Contradiction } from '../evidence/contradictions.js';
import type { Unanswered } from '../research-events.js';
import type { Finding } from './fold-research.js';
import type { Action } from './ladder.js';

/** What a report is written from. */
export interface ReportParts {
  readonly facts: readonly Finding[];
  readonly evidence: readonly CitedEvidence[];
  readonly unanswered: readonly Unanswered[];
  readonly contradictions: readonly Contradiction[];
  readonly outcome: Action;
  readonly language: ReportLanguage;
  /** What comes closest, told where nothing is known and no model was there to read it. @default nothing is told */
  readonly nearest?: readonly CitedEvidence[] | undefined;
  /** The limit that kept something from being done. @default none did */
  readonly exhausted?: ExhaustedLimit | undefined;
  /** What was assumed where people were asked and did not answer. @default nothing was */
  readonly assumed?: readonly string[] | undefined;
}

const TEXTS = {
  en: {
    known: 'This was found:',
    unanswerable: 'This question cannot be answered from the sources that were searched.',
    caveat: 'Not everything that was asked could be established.',
    tried: 'No answer was found for:',
    nearest: 'The passages that come closest:',
    both: 'The sources do not agree:',
    research: 'The budget of this research was used up before everything was done.',
    assumed: 'This was assumed, as it was not answered:',
    day: 'What may be spent on researches today was used up before everything was done.',
    pause: ': ',
  },
  zh: {
    known: '已查明：',
    unanswerable: '根据已检索的来源，无法回答这个问题。',
    caveat: '并非所有问题都能查明。',
    tried: '以下问题没有找到答案：',
    nearest: '最接近的段落：',
    both: '来源之间不一致：',
    research: '本次研究的预算在全部完成之前已用完。',
    assumed: '以下问题未得到回答，按默认处理：',
    day: '今天的研究额度在全部完成之前已用完。',
    pause: '：',
  },
} as const;

/** Findings in order, each with its citations; never empty. */
export function findingsReport(parts: ReportParts): string {
  const { facts, language } = parts;
  const head = facts.length === 0 ? [] : [`${TEXTS[language].known}\n\n${findingLines(facts, parts)}`];
  return [...head, closingRemarks(parts)].filter((part) => part !== '').join('\n\n');
}

/** Findings as a list, each with its citations. */
export function findingLines(facts: readonly Finding[], parts: ReportParts): string {
  const { pause } = TEXTS[parts.language];
  return facts
    .map((fact) => `- ${fact.question}${pause}${withoutEnd(fact.answer)}${marksOf(fact.supported_by, parts)}`)
    .join('\n');
}

/** What a report says behind its answer: that it is not whole, what was tried, and both sides of what contradicts itself. Empty for nothing. */
export function closingRemarks(parts: ReportParts): string {
  const { outcome, unanswered, contradictions, language, facts, nearest = [], exhausted, assumed = [] } = parts;
  const texts = TEXTS[language];
  const remarks: string[] = [];
  if (outcome === 'unanswerable' || facts.length === 0) remarks.push(texts.unanswerable);
  else if (outcome === 'answer_with_caveat') remarks.push(texts.caveat);
  // An answer without some page of the web is whole.
  const isCut = exhausted !== undefined && (exhausted.limit !== 'webRequests' || outcome !== 'answer');
  if (isCut) remarks.push(texts[exhausted.per]);
  if (unanswered.length > 0 && outcome !== 'answer') {
    remarks.push(`${texts.tried}\n\n${unanswered.map(({ question }) => `- ${question}`).join('\n')}`);
  }
  if (nearest.length > 0) {
    remarks.push(`${texts.nearest}\n\n${nearest.map(({ n, text }) => `- ${excerptOf(text)} [${n}]`).join('\n')}`);
  }
  const sides = contradictions.flatMap((one) => bothSides(one, parts));
  if (sides.length > 0) remarks.push(`${texts.both}\n\n${sides.join('\n')}`);
  if (assumed.length > 0) remarks.push(`${texts.assumed}\n\n${assumed.map((one) => `- ${one}`).join('\n')}`);
  return remarks.join('\n\n');
}

/** Both sides with their sources and dates; nothing where neither can be shown. */
function bothSides({ a, b, why }: Contradiction, parts: ReportParts): readonly string[] {
  const [one, other] = [sideOf(a, parts), sideOf(b, parts)];
  if (one === undefined || other === undefined) return why === '' ? [] : [`- ${why}`];
  return [`- ${one} / ${other}`];
}

function sideOf(id: string, parts: ReportParts): string | undefined {
  const fact = parts.facts.find((one) => one.id === id);
  const ids = fact?.supported_by ?? [id];
  const evidence = parts.evidence.filter((one) => ids.includes(one.id));
  const first = evidence[0];
  if (first === undefined) return undefined;
  const { date } = first;
  const said = fact === undefined ? first.source : `${first.source}${TEXTS[parts.language].pause}${fact.answer}`;
  return `${said}${date === undefined ? '' : ` (${date})`}${marksOf(ids, parts)}`;
}

/** The citations of evidence, each with a space in front. */
export function marksOf(ids: readonly string[], { evidence }: Pick<ReportParts, 'evidence'>): string {
  return ids
    .flatMap((id) => evidence.find((one) => one.id === id)?.n ?? [])
    .map((n) => ` [${n}]`)
    .join('');
}

function withoutEnd(text: string): string {
  return text.replace(/[.。]+$/u, '');
}

/** Characters of a passage in a list. */
const MAX_EXCERPT = 300;

function excerptOf(text: string): string {
  const plain = text.replaceAll(/\s+/g, ' ').trim();
  return plain.length > MAX_EXCERPT ? `${plain.slice(0, MAX_EXCERPT)} …` : plain;
}
