/** The report of a research: written by a model and checked as it comes, or by rules. */
import { catchError, concat, concatMap, defer, from, type Observable, of } from 'rxjs';
import { languageOf } from '../../chat/intents/utterance.js';
import { cutToTokens } from '../../models/estimate-tokens.js';
import { type Asking, askStreamed } from '../calls/ask-call.js';
import { type CitedEvidence, ReportCheck, type ReportGround, type ReportLanguage } from '../evidence/check-report.js';
import type { ResearchEvidence } from '../evidence/evidence-table.js';
import type { ResearchEvent, ResearchFinal, Unanswered } from '../research-events.js';
import { closingRemarks, findingsReport, type ReportParts } from './findings-report.js';
import { citableEvidence, factsOf, type ResearchPicture } from './fold-research.js';
import type { Action } from './ladder.js';

/** What a report is written from. */
export interface ReportInput {
  readonly question: string;
  readonly picture: ResearchPicture;
  readonly evidence: readonly ResearchEvidence[];
  readonly outcome: Action;
  readonly missing: readonly string[];
  readonly asking: Asking;
  /** Questions to people that were not answered, with what counts instead. @default none */
  readonly assumed?: readonly string[] | undefined;
}

/** Tokens of a source that the model reads. */
const MAX_TEXT_TOKENS = 350;
/** Passages that are shown where nothing is known. */
const NEAREST = 3;

/** Streams the report and ends with `final`; never fails. */
export function writeReport(input: ReportInput): Observable<ResearchEvent> {
  const parts = reportParts(input);
  const { facts, outcome } = parts;
  if (facts.length === 0 || outcome === 'unanswerable') return byRules(input, parts);
  return byModel(input, parts).pipe(catchError(() => concat(of(voided()), byRules(input, parts))));
}

/** Facts, their evidence numbered in the order of the facts, and what is not known. */
export function reportParts({
  question,
  picture,
  evidence,
  outcome,
  missing,
  asking,
  assumed,
}: ReportInput): ReportParts {
  const facts = factsOf(picture);
  const isBare = facts.length === 0 && asking.model === undefined;
  const nearest = isBare ? [...evidence].sort((a, b) => b.score - a.score).slice(0, NEAREST) : [];
  const others = nearest.map(({ id }) => id);
  const cited = citableEvidence(picture, evidence, others);
  const numbered = cited.map((one, at): CitedEvidence => ({ n: at + 1, ...one }));
  const open = picture.questions.filter(({ status }) => status === 'unanswered' || status === 'open');
  const unanswered = [
    ...open.map(
      ({ text, finding }): Unanswered => ({ question: finding?.question || text, why: whyOpen(finding?.verdict) }),
    ),
    ...missing.map((what): Unanswered => ({ question: what, why: 'it was not found' })),
  ];
  return {
    facts,
    evidence: numbered,
    nearest: numbered.filter(({ id }) => nearest.some((one) => one.id === id)),
    unanswered: unanswered.filter(
      ({ question: one }, at) => unanswered.findIndex((other) => other.question === one) === at,
    ),
    contradictions: picture.contradictions,
    outcome,
    language: languageOf(question) as ReportLanguage,
    exhausted: asking.budget.standing.exhausted,
    assumed,
  };
}

function whyOpen(verdict: string | undefined): string {
  if (verdict === undefined) return 'the research ended before it was worked off';
  return verdict === 'refuted' ? 'what was read refutes its answer' : 'nothing that was read says it';
}

const voided = (): ResearchEvent => ({ type: 'retract', reason: 'the model did not finish the report' });

/** Findings and evidence as a model that writes from them reads them. */
export function writtenFrom({ facts, evidence }: Pick<ReportParts, 'facts' | 'evidence'>) {
  const numbers = new Map(evidence.map(({ id, n }) => [id, n]));
  return {
    findings: facts.map(({ id, question, answer, supported_by }) => ({
      id,
      question,
      answer,
      supported_by,
      cite: supported_by.flatMap((one) => numbers.get(one) ?? []),
    })),
    evidence: evidence.map(({ n, id, text, source }) => ({ n, id, text: cutToTokens(text, MAX_TEXT_TOKENS), source })),
  };
}

function byModel(input: ReportInput, parts: ReportParts): Observable<ResearchEvent> {
  const { question, asking } = input;
  const message = { question, ...writtenFrom(parts), style: { form: 'answer', language: parts.language } };
  const ground = groundOf(input, parts);
  return defer(() => {
    let check = new ReportCheck(ground);
    const text$ = askStreamed(asking, 'research_synthesise', message).pipe(
      concatMap((piece): ResearchEvent[] => {
        if (piece.type === 'text') return tokens(check.push(piece.text));
        check = new ReportCheck(ground);
        return [{ type: 'retract', reason: 'the answer of the model broke off' }];
      }),
    );
    const end$ = defer(() => {
      const rest = check.end();
      const remarks = closingRemarks(parts);
      const closing = remarks === '' ? '' : `\n\n${remarks}`;
      const { text, cited, unsupported } = check.result;
      const citedIn = citedBy(closing, cited);
      const final = finalOf(input, parts, { text: `${text.trimEnd()}${closing}`, cited: citedIn, unsupported });
      return from([...tokens(rest), ...tokens(closing), final]);
    });
    return concat(text$, end$);
  });
}

/** Names of given answers need no source, for the user has said them; nor do results of calculations, which follow from other answers. */
export function groundOf(
  { question }: Pick<ReportInput, 'question'>,
  { evidence, language, facts }: ReportParts,
): ReportGround {
  const given = facts.flatMap(({ verdict, answer }) =>
    verdict === 'given' || verdict === 'calculated' ? [answer] : [],
  );
  return { question: [question, ...given].join('\n'), evidence, language };
}

function byRules(input: ReportInput, parts: ReportParts): Observable<ResearchEvent> {
  return defer(() => {
    const text = findingsReport(parts);
    return from([...tokens(text), finalOf(input, parts, { text, cited: citedBy(text, []), unsupported: 0 })]);
  });
}

/** Numbers of the citations in a text, behind those before. */
export function citedBy(text: string, before: readonly number[]): readonly number[] {
  return [...new Set([...before, ...[...text.matchAll(/\[(\d{1,3})\]/g)].map(([, n]) => Number(n))])];
}

function tokens(content: string): ResearchEvent[] {
  return content === '' ? [] : [{ type: 'token', content, section: 0 }];
}

/** A report that is whole. */
export interface WrittenReport {
  /** Markdown. */
  readonly text: string;
  readonly cited: readonly number[];
  readonly unsupported: number;
}

/** The last event of a research. */
export function finalOf(
  { question, asking }: Pick<ReportInput, 'question' | 'asking'>,
  parts: ReportParts,
  written: WrittenReport,
): ResearchFinal {
  const { budget } = asking;
  return {
    type: 'final',
    report: written.text,
    title: question,
    sources: written.cited.flatMap((n) => parts.evidence.find((one) => one.n === n) ?? []),
    unanswered: parts.unanswered,
    contradictions: parts.contradictions,
    budget: budget.standing,
    outcome: parts.outcome,
    unsupported: written.unsupported,
  };
}
