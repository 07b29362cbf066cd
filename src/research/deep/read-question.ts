/** Reading what was found for one sub-question: its answer, and whether the evidence bears that out. */
import { catchError, concatMap, defer, map, type Observable, of } from 'rxjs';
import { cutToTokens } from '../../models/estimate-tokens.js';
import type { Asking } from '../calls/ask-call.js';
import { askCall } from '../calls/ask-call.js';
import { HeldWords, holdsAnswer } from '../evidence/check-statement.js';
import type { ResearchEvidence } from '../evidence/evidence-table.js';
import { sentencesOf } from '../evidence/sentences.js';
import type { Finding } from './fold-research.js';

/** What one look at evidence gave. */
export type Reading = Pick<Finding, 'answer' | 'supported_by' | 'confidence' | 'verdict'>;

/** Tokens of one text that a model reads. */
const MAX_TEXT_TOKENS = 400;
/** Share of the words of a question that a sentence must hold to be quoted as its answer. */
const QUOTE_SHARE = 0.6;
const QUOTED = 3;
/** Characters of what a tool gave that are its answer without a model, and how sure that is. */
const MAX_TOLD = 400;
const TOLD = 0.5;

const NOTHING: Reading = { answer: '', supported_by: [], confidence: 0, verdict: 'unsupported' };

/** Evidence as models read it. */
export function evidenceInput(evidence: readonly Pick<ResearchEvidence, 'id' | 'text' | 'source'>[]) {
  return evidence.map(({ id, text, source }) => ({ id, text: cutToTokens(text, MAX_TEXT_TOKENS), source }));
}

/**
 * Asks a model for the answer, checks it by rules, and has a model verify it. Ids that the model makes up do not count. Emits one reading; where the model
 * fails, that of the rules: the sentence that holds the question best, as a quote.
 */
export function readQuestion(
  asking: Asking,
  question: string,
  evidence: readonly ResearchEvidence[],
): Observable<Reading> {
  if (evidence.length === 0) return of(NOTHING);
  return askCall(asking, 'research_read', { question, evidence: evidenceInput(evidence) }).pipe(
    map(({ answer, supported_by, confidence }): Reading => {
      const said = answer.trim();
      if (said === '') return NOTHING;
      const supports = supportOf(said, supported_by, evidence);
      const verdict = supports.length === 0 ? 'unsupported' : 'supported';
      return { answer: said, supported_by: supports.map(({ id }) => id), confidence, verdict };
    }),
    concatMap((reading) =>
      reading.verdict === 'supported' ? verified(asking, question, reading, evidence) : of(reading),
    ),
    catchError(() => of(quotedAnswer(question, evidence))),
  );
}

/** The evidence that holds an answer: what the model named, else what else does. */
function supportOf(
  answer: string,
  named: readonly string[],
  evidence: readonly ResearchEvidence[],
): readonly ResearchEvidence[] {
  const own = evidence.filter(({ id }) => named.includes(id));
  const holding = own.filter((one) => holdsAnswer(answer, [readText(one)]));
  if (holding.length > 0) return holding;
  if (own.length > 0 && holdsAnswer(answer, own.map(readText))) return own;
  // An answer without its place is no lie as long as it is somewhere in what was read.
  if (own.length > 0) return [];
  const other = evidence.find((one) => holdsAnswer(answer, [readText(one)]));
  return other === undefined ? [] : [other];
}

function readText({ source, text }: Pick<ResearchEvidence, 'source' | 'text'>): string {
  return `${source}\n${text}`;
}

/** The verdict of a model, where one can be had; that of the rules else. */
function verified(
  asking: Asking,
  question: string,
  reading: Reading,
  evidence: readonly ResearchEvidence[],
): Observable<Reading> {
  const supports = evidence.filter(({ id }) => reading.supported_by.includes(id));
  const claim = `${question} ${reading.answer}`;
  return defer(() => askCall(asking, 'research_verify', { claim, evidence: evidenceInput(supports) })).pipe(
    map(({ verdict }) => ({ ...reading, verdict })),
    catchError(() => of(reading)),
  );
}

/** The sentence that holds most of the question, as it stands; where none does, what a tool gave. */
export function quotedAnswer(question: string, evidence: readonly ResearchEvidence[]): Reading {
  const best = evidence
    .slice(0, QUOTED)
    .flatMap((one) => sentencesOf(one.text).map((sentence) => ({ one, sentence: sentence.trim() })))
    .filter(({ sentence }) => sentence !== '')
    .map(({ one, sentence }) => ({ one, sentence, share: new HeldWords([one.source, sentence]).shareOf(question) }))
    .sort((a, b) => b.share - a.share)[0];
  if (best === undefined || best.share < QUOTE_SHARE) return toldByTool(evidence[0]);
  const { one, sentence, share } = best;
  return { answer: sentence, supported_by: [one.id], confidence: share / 2, verdict: 'quoted' };
}

/** The first sentences of what a tool gave: it was asked by its arguments, and need not repeat the question. */
function toldByTool(first: ResearchEvidence | undefined): Reading {
  if (first?.where !== 'tool') return NOTHING;
  let answer = '';
  for (const sentence of sentencesOf(first.text)) {
    if (answer !== '' && answer.length + sentence.length > MAX_TOLD) break;
    answer += sentence;
  }
  const said = answer.slice(0, MAX_TOLD).trim();
  return said === '' ? NOTHING : { answer: said, supported_by: [first.id], confidence: TOLD, verdict: 'quoted' };
}
