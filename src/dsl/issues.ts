/** Issues of documents: collected, located, and derived from zod schemas. */
import type { core, ZodMiniType } from 'zod/mini';
import type { DocumentIssue, DocumentIssueCode } from './document.js';

/** One step of a path into a document: an object key or a list index. */
export type PathStep = string | number;

/** Most issues one reading reports; what is left out is counted in a last issue. */
export const MAX_ISSUES = 1000;

/** Gathers the issues of one reading, in the order they are found. */
export interface IssueList {
  /** Adds an error: the document cannot run like this. */
  error(code: DocumentIssueCode, path: readonly PathStep[], message: string, component?: string): void;
  /** Adds a warning: the document runs, but may not do what is intended. */
  warn(code: DocumentIssueCode, path: readonly PathStep[], message: string, component?: string): void;
  /** Adds issues found elsewhere, as they are. */
  append(issues: readonly DocumentIssue[]): void;
  /** Everything found so far; at most `MAX_ISSUES`, then one that says how many were left out. */
  list(): DocumentIssue[];
}

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Writes a path below `base` the way issues show it: `$.components["LLM:A"].obj.params.prompts[0]`. */
export function formatPath(steps: readonly PropertyKey[], base = '$'): string {
  let path = base;
  for (const step of steps) {
    const name = String(step);
    if (typeof step === 'number') path += `[${name}]`;
    else path += PLAIN_KEY.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
  }
  return path;
}

/** Starts an empty list; `base` is put before every path (a document may lie inside a template file). */
export function createIssueList(base: readonly PathStep[] = []): IssueList {
  const found: DocumentIssue[] = [];
  let errors = 0;
  let dropped = 0;
  const push = (issue: DocumentIssue): void => {
    if (issue.severity === 'error') errors += 1;
    if (found.length < MAX_ISSUES) {
      found.push(issue);
      return;
    }
    dropped += 1;
    // The first error replaces the last warning when the list is full.
    if (issue.severity === 'error' && errors === 1) found[MAX_ISSUES - 1] = issue;
  };
  const add =
    (severity: DocumentIssue['severity']): IssueList['error'] =>
    (code, path, message, component) =>
      push({
        code,
        severity,
        path: formatPath([...base, ...path]),
        message,
        ...(component === undefined ? {} : { component }),
      });
  return {
    error: add('error'),
    warn: add('warning'),
    append: (issues) => {
      for (const issue of issues) push(issue);
    },
    list: () => (dropped === 0 ? [...found] : [...found, tooMany(base, dropped)]),
  };
}

/** Describes a value in a few words for a message: `the text "abc"`, `a list of 3`, `null`. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return `the text ${JSON.stringify(clip(value))}`;
  return `the ${typeof value} ${String(value)}`;
}

/** Shortens `text` to 60 characters for a message. */
function clip(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

/** Runs a zod schema over `value` and adds every mismatch below `path`; gives back whether there was none. */
export function checkShape(
  schema: ZodMiniType,
  value: unknown,
  path: readonly PathStep[],
  issues: IssueList,
  component?: string,
): boolean {
  const result = schema.safeParse(value);
  if (result.success) return true;
  for (const problem of result.error.issues) {
    const at = [...path, ...problem.path.map((step) => (typeof step === 'symbol' ? String(step) : step))];
    if (problem.code === 'unrecognized_keys') {
      for (const key of problem.keys) {
        issues.error(
          'unknown-field',
          [...at, key],
          `the field ${JSON.stringify(clip(key))} is not known here`,
          component,
        );
      }
    } else {
      const received = describeValue(valueAt(value, problem.path));
      issues.error('wrong-type', at, `${expectation(problem)}, received ${received}`, component);
    }
  }
  return false;
}

function tooMany(base: readonly PathStep[], dropped: number): DocumentIssue {
  return {
    code: 'too-many-issues',
    severity: 'warning',
    path: formatPath(base),
    message: `${dropped} more issues are not listed; mend the ones above first`,
  };
}

function expectation(problem: core.$ZodIssue): string {
  if (problem.code === 'invalid_type') return `expected ${EXPECTED[problem.expected] ?? problem.expected}`;
  if (problem.code === 'too_small') return 'expected something that is not empty';
  return problem.message;
}

const EXPECTED: Readonly<Record<string, string>> = { string: 'a text', array: 'a list', object: 'an object' };

/** The value at a path of own properties; undefined when the path leads nowhere. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, step)) return undefined;
    current = (current as Record<PropertyKey, unknown>)[step];
  }
  return current;
}
