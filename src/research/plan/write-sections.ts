/** The report of a research by a plan: an outline, its sections side by side, what they say together, and what is mended once. */
import {
  catchError,
  concatMap,
  defer,
  forkJoin,
  from,
  map,
  mergeMap,
  type Observable,
  of,
  timeout,
  toArray,
} from 'rxjs';
import { askCall, askStreamed } from '../calls/ask-call.js';
import { closingRemarks, findingLines, type ReportParts } from '../deep/findings-report.js';
import {
  citedBy,
  finalOf,
  groundOf,
  type ReportInput,
  reportParts,
  writeReport,
  writtenFrom,
} from '../deep/write-report.js';
import { ReportCheck } from '../evidence/check-report.js';
import { HeldWords, unheldPart } from '../evidence/check-statement.js';
import type { Contradiction } from '../evidence/contradictions.js';
import type { ResearchEvent } from '../research-events.js';
import { type DraftedSection, type SectionProblem, sectionProblems } from './check-sections.js';
import { headOf, type PlannedSection, restTitle, sectionsByRules } from './form-sections.js';
import type { ReportForm } from './report-forms.js';

/** What a report is written from. */
export interface SectionsInput extends ReportInput {
  readonly form: ReportForm;
}

/** Sections of a report, and those that are written at the same time. */
const MAX_SECTIONS = 8;
const AT_ONCE = 4;
/** Findings up to which a report has one section. */
const ONE_SECTION = 2;
const MAX_TITLE = 120;
/** Share of the time of a research that is left to the report, and milliseconds that are at least. */
const REPORT_SHARE = 0.1;
const LEAST_MS = 1_000;
/** Problems that a model is told of one section. */
const MAX_PROBLEMS = 8;

/** Sections and what was written of each. */
interface Draft {
  readonly sections: readonly PlannedSection[];
  readonly texts: readonly DraftedSection[];
}

/**
 * Writes the report, and ends with `final`; never fails. Nothing is shown before the report as a whole was checked.
 *
 * ```text
 * outline    --o|
 * section 1     ---a|
 * section 2     -b|
 * together         --p|          (their numbers do not agree)
 * section 2            --c|      (mended, once)
 * shown      ------------(oacF|)
 * ```
 */
export function writeSections(input: SectionsInput): Observable<ResearchEvent> {
  const { outcome, form, asking } = input;
  const parts = reportParts(input);
  if (parts.facts.length === 0 || outcome === 'unanswerable') return writeReport(input);
  const byRules$ = defer(() => {
    const sections = sectionsByRules(form, parts);
    return of({ sections, texts: sections.map((section) => draftByRules(section, parts)) });
  });
  const { ms } = asking.budget.limits;
  const byModel$ = asking.model === undefined ? byRules$ : writtenByModel(input, parts);
  const inTime$ =
    ms === undefined
      ? byModel$
      : byModel$.pipe(timeout({ first: Math.max(LEAST_MS, ms * REPORT_SHARE), with: () => byRules$ }));
  return inTime$.pipe(
    catchError(() => byRules$),
    concatMap((draft) => shown(input, parts, draft)),
  );
}

function writtenByModel(input: SectionsInput, parts: ReportParts): Observable<Draft> {
  return plannedSections(input, parts).pipe(
    concatMap((sections) =>
      from(sections).pipe(
        mergeMap((section, at) => draftOf(input, parts, section, []).pipe(map((text) => ({ at, text }))), AT_ONCE),
        toArray(),
        map((texts) => ({ sections, texts: texts.sort((a, b) => a.at - b.at).map(({ text }) => text) })),
      ),
    ),
    concatMap((draft) => mended(input, parts, draft)),
  );
}

/** The outline of a model with every finding in one section; that of the rules where it fails, or where a report is short. */
function plannedSections(
  { question, asking, form }: SectionsInput,
  parts: ReportParts,
): Observable<readonly PlannedSection[]> {
  const { facts, language } = parts;
  if (facts.length <= ONE_SECTION) return of([{ title: question, facts }]);
  const { findings } = writtenFrom({ facts, evidence: [] });
  return askCall(asking, 'report_outline', { question, findings, style: { form, language } }).pipe(
    map(({ sections }) => {
      const left = new Set(facts);
      const planned = sections.slice(0, MAX_SECTIONS - 1).flatMap(({ title, findings: ids }): PlannedSection[] => {
        const own = facts.filter((fact) => ids.includes(fact.id) && left.has(fact));
        for (const fact of own) left.delete(fact);
        return own.length === 0 ? [] : [{ title: titleOf(title, own, parts, question), facts: own }];
      });
      return left.size === 0 ? planned : [...planned, { title: restTitle(parts), facts: [...left] }];
    }),
    catchError(() => of(sectionsByRules(form, parts))),
  );
}

/** A title in one line; where it says what no source does, the question of its first finding is the title. */
function titleOf(given: string, [first]: PlannedSection['facts'], parts: ReportParts, question: string): string {
  const title = given
    .replaceAll(/[\s#]+/g, ' ')
    .trim()
    .slice(0, MAX_TITLE);
  const held = new HeldWords([question, ...parts.evidence.map(({ source, text }) => `${source}\n${text}`)]);
  return title === '' || unheldPart(title, held) !== undefined ? (first?.question ?? question) : title;
}

/** One section, written from its findings and checked; by rules where the model fails. */
function draftOf(
  input: SectionsInput,
  parts: ReportParts,
  section: PlannedSection,
  problems: readonly SectionProblem[],
): Observable<DraftedSection> {
  const { asking, question, form } = input;
  const own = partsOf(section, parts);
  const message = {
    question,
    section: section.title,
    ...writtenFrom(own),
    style: { form, language: parts.language },
    ...(problems.length > 0 && { problems: problems.slice(0, MAX_PROBLEMS).map(({ why }) => why) }),
  };
  const ground = groundOf(input, own);
  return askStreamed(asking, 'report_section', message).pipe(
    toArray(),
    map((pieces) => {
      const check = new ReportCheck(ground);
      const begin = pieces.findLastIndex(({ type }) => type === 'retract') + 1;
      for (const piece of pieces.slice(begin)) if (piece.type === 'text') check.push(piece.text);
      check.end();
      const { text, unsupported } = check.result;
      return { title: section.title, text: text.trim(), unsupported };
    }),
    catchError(() => of(draftByRules(section, parts))),
  );
}

/** What concerns one section: its findings, and the evidence for them under its numbers. */
function partsOf({ facts }: PlannedSection, parts: ReportParts): ReportParts {
  const ids = new Set(facts.flatMap(({ supported_by }) => supported_by));
  return { ...parts, facts, evidence: parts.evidence.filter(({ id }) => ids.has(id)) };
}

function draftByRules({ title, facts }: PlannedSection, parts: ReportParts): DraftedSection {
  return { title, text: findingLines(facts, parts), unsupported: 0 };
}

/** Sections with problems are written once more; what they say then stands where it is no worse. */
function mended(input: SectionsInput, parts: ReportParts, draft: Draft): Observable<Draft> {
  const { question } = input;
  const { sections, texts } = draft;
  const before = sectionProblems(question, texts);
  return askedOf(input, texts).pipe(
    map((told) => sections.map((_, place) => [...before, ...told].filter(({ at }) => at === place))),
    concatMap((problems) =>
      forkJoin(
        sections.map((section, at) => {
          const own = problems[at] ?? [];
          const text = texts[at] ?? draftByRules(section, parts);
          if (own.length === 0) return of(text);
          return draftOf(input, parts, section, own).pipe(
            map((again) => (again.unsupported <= text.unsupported ? again : text)),
          );
        }),
      ),
    ),
    map((again) => ({ sections, texts: sectionProblems(question, again).length <= before.length ? again : texts })),
  );
}

/** What a model finds wrong with the sections together; nothing where it cannot say. */
function askedOf(
  { asking, question }: SectionsInput,
  texts: readonly DraftedSection[],
): Observable<readonly SectionProblem[]> {
  if (texts.length < 2) return of([]);
  const draft = texts.map(({ title, text }, at) => ({ at: String(at + 1), title, text }));
  return askCall(asking, 'report_check', { question, draft }).pipe(
    map(({ problems }) =>
      problems.flatMap(({ at, why }): SectionProblem[] => {
        const place = texts.findIndex(({ title }, index) => at === String(index + 1) || at === title);
        return place === -1 ? [] : [{ at: place, kind: 'other', why }];
      }),
    ),
    catchError(() => of([])),
  );
}

/** The outline, the text section by section, and the last event. */
function shown(input: SectionsInput, given: ReportParts, { sections, texts }: Draft): readonly ResearchEvent[] {
  const differing = sectionProblems(input.question, texts).filter(({ kind }) => kind === 'numbers');
  const between = [...new Set(differing.map(({ why }) => why))].map((why): Contradiction => ({ a: '', b: '', why }));
  const parts: ReportParts = { ...given, contradictions: [...given.contradictions, ...between] };
  const head = headOf(
    input.form,
    parts,
    texts.map(({ text }) => text),
  );
  const isOne = texts.length === 1 && head === '';
  const blocks = [
    head,
    ...texts.map(({ title, text }) => (isOne ? text : `## ${title}\n\n${text}`)),
    closingRemarks(parts),
  ]
    .map((block, section) => ({ block, section }))
    .filter(({ block }) => block !== '');
  const text = blocks.map(({ block }) => block).join('\n\n');
  const unsupported = texts.reduce((sum, one) => sum + one.unsupported, 0);
  return [
    {
      type: 'report_outline',
      sections: sections.map(({ title, facts }) => ({ title, findings: facts.map(({ id }) => id) })),
    },
    ...between.map((one): ResearchEvent => ({ type: 'contradiction', ...one })),
    ...blocks.map(
      ({ block, section }, at): ResearchEvent => ({
        type: 'token',
        content: at === 0 ? block : `\n\n${block}`,
        section,
      }),
    ),
    finalOf(input, parts, { text, cited: citedBy(text, []), unsupported }),
  ];
}
