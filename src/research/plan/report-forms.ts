/** Names of the forms of reports by a plan. */

/** The forms: sections alone; a table of all findings before them; the main points before them; a section for each source. */
export const REPORT_FORMS = ['answer', 'table', 'briefing', 'overview'] as const;

/** One of {@link REPORT_FORMS}. */
export type ReportForm = (typeof REPORT_FORMS)[number];
