/** The forms of reports by a plan: what stands before the sections, and how sections are made without a model. */
import { marksOf, type ReportParts } from '../deep/findings-report.js';
import type { Finding } from '../deep/fold-research.js';
import { sentencesOf } from '../evidence/sentences.js';
import type { ReportForm } from './report-forms.js';

/** A section that is to be written. */
export interface PlannedSection {
  readonly title: string;
  readonly facts: readonly Finding[];
}

const TEXTS = {
  en: { table: '| Question | Answer | Sources |', points: 'Main points', rest: 'Further findings' },
  zh: { table: '| 问题 | 答案 | 来源 |', points: '要点', rest: '其他发现' },
} as const;

/** Title of what an outline leaves out. */
export function restTitle({ language }: Pick<ReportParts, 'language'>): string {
  return TEXTS[language].rest;
}

/** The sections that rules make: one for each source in an overview, else one for each part of the question. */
export function sectionsByRules(form: ReportForm, parts: ReportParts): readonly PlannedSection[] {
  const { facts, evidence } = parts;
  const titleOf = ({ id, question, supported_by }: Finding): string => {
    const source = evidence.find((one) => one.id === supported_by[0])?.source;
    return form === 'overview' ? (source ?? restTitle(parts)) : (id.split('/')[0] ?? question);
  };
  const groups = new Map<string, Finding[]>();
  for (const fact of facts) groups.set(titleOf(fact), [...(groups.get(titleOf(fact)) ?? []), fact]);
  return [...groups].map(([title, group]) => ({
    title: form === 'overview' ? title : (group[0]?.question ?? title),
    facts: group,
  }));
}

/** What stands before the sections; empty for nothing. @param texts those of the sections */
export function headOf(form: ReportForm, parts: ReportParts, texts: readonly string[]): string {
  const words = TEXTS[parts.language];
  if (form === 'table') {
    const rows = parts.facts.map(
      (fact) => `| ${cell(fact.question)} | ${cell(fact.answer)} |${marksOf(fact.supported_by, parts)} |`,
    );
    return `${words.table}\n|---|---|---|\n${rows.join('\n')}`;
  }
  if (form !== 'briefing' || texts.length < 2) return '';
  const points = texts.flatMap((text) => {
    const [first = ''] = sentencesOf(text.replace(/^\s*[-*]\s+/, ''));
    return first.trim() === '' ? [] : [`- ${first.trim()}`];
  });
  return `## ${words.points}\n\n${points.join('\n')}`;
}

/** A text in a cell of a table. */
function cell(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim();
}
