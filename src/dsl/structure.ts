/** Checks of a document as a whole: entry, nesting, edges, spelling of ids. */
import { canonicalId, indexIds } from './component-id.js';
import type { Document } from './document.js';
import { entriesOf, ingestionComponents } from './introspect.js';
import type { IssueList } from './issues.js';
import { textsIn } from './json-copy.js';

/** Longest text that is looked at as an id. */
const MAX_ID_LENGTH = 200;

/**
 * Checks how components are connected: one entry, bodies that nest, edges that stay inside their body, ids that differ
 * by more than spelling. Cycles are allowed: they are how documents write a way back.
 */
export function checkStructure(document: Document, issues: IssueList): void {
  checkEntry(document, issues);
  checkSpelling(document, issues);
  checkNesting(document, issues);
  checkEdges(document, issues);
}

/** Compares the predecessors a file claims with those its successors give; a difference is a warning. */
export function checkUpstreams(
  document: Document,
  claimed: ReadonlyMap<string, readonly string[]>,
  issues: IssueList,
): void {
  const index = indexIds(Object.keys(document.components));
  const actual = new Map<string, Set<string>>();
  for (const component of Object.values(document.components)) {
    for (const target of component.downstream) {
      const sources = actual.get(target);
      if (sources === undefined) actual.set(target, new Set([component.id]));
      else sources.add(component.id);
    }
  }
  const named = new Map<string, ReadonlySet<string>>();
  for (const [id, written] of claimed) {
    const sources = actual.get(id) ?? new Set<string>();
    for (const source of new Set(written.map((name) => index.resolve(name) ?? name))) {
      if (sources.has(source)) continue;
      const targets = named.get(source) ?? idsInParams(document, source);
      named.set(source, targets);
      // Editors also list predecessors whose way here is a parameter: a case, a category, an exception.
      if (targets.has(canonicalId(id))) continue;
      issues.warn(
        'upstream-differs',
        ['components', id, 'upstream'],
        `${JSON.stringify(id)} claims to follow ${JSON.stringify(source)}, which does not lead to it; only "downstream" counts`,
        id,
      );
    }
  }
}

/** Ids that the parameters of a component name as a whole text: targets of cases, ways out of an error. */
function idsInParams(document: Document, id: string): ReadonlySet<string> {
  const texts = textsIn(document.components[id]?.params ?? {});
  return new Set(texts.filter((text) => text.length <= MAX_ID_LENGTH).map(canonicalId));
}

function checkEntry(document: Document, issues: IssueList): void {
  const components = Object.values(document.components);
  const entries = entriesOf(document);
  if (entries.length > 1) {
    const names = entries.map((id) => JSON.stringify(id)).join(', ');
    issues.warn('several-entries', ['components'], `there are several entries (${names}); runs start at the first`);
  }
  if (entries.length > 0 || components.length === 0) return;
  const ingestion = ingestionComponents(document);
  if (ingestion.length > 0) {
    const names = [...new Set(ingestion.map((component) => component.type))].join(', ');
    const message = `this is an ingestion pipeline (it has no Begin, but ${names}); it runs for the documents of a dataset that names its agent in pipeline_id, and answers no questions`;
    issues.error('ingestion-pipeline', ['components'], message, ingestion[0]?.id);
    return;
  }
  const begin = components.find((component) => component.type.toLowerCase() === 'begin');
  const message =
    begin === undefined
      ? 'there is no Begin component; runs start at one with the id "begin"'
      : `the Begin component is called ${JSON.stringify(begin.id)}; runs start at the id "begin", rename it`;
  issues.error('no-entry', begin === undefined ? ['components'] : ['components', begin.id], message, begin?.id);
}

function checkSpelling(document: Document, issues: IssueList): void {
  const first = new Map<string, string>();
  for (const id of Object.keys(document.components)) {
    const form = canonicalId(id);
    const other = first.get(form);
    if (other === undefined) {
      first.set(form, id);
      continue;
    }
    const message = `${JSON.stringify(id)} and ${JSON.stringify(other)} differ only in spelling; references may mean either`;
    issues.warn('id-duplicate', ['components', id], message, id);
  }
}

function checkNesting(document: Document, issues: IssueList): void {
  const settled = new Set<string>();
  for (const start of Object.keys(document.components)) {
    const trail = new Set<string>();
    let id: string | undefined = start;
    while (id !== undefined && !settled.has(id) && !trail.has(id)) {
      trail.add(id);
      id = document.components[id]?.parent;
    }
    if (id !== undefined && trail.has(id)) {
      const message = `${JSON.stringify(id)} lies inside itself by its chain of parents; cut the chain`;
      issues.error('parent-cycle', ['components', id, 'parent_id'], message, id);
    }
    for (const seen of trail) settled.add(seen);
  }
}

function checkEdges(document: Document, issues: IssueList): void {
  for (const component of Object.values(document.components)) {
    for (const target of component.downstream) {
      const path = ['components', component.id, 'downstream'];
      const edge = `${JSON.stringify(component.id)} leads to ${JSON.stringify(target)}`;
      if (target === component.id) {
        issues.warn('self-edge', path, `${edge}, itself: it would run again without end`, component.id);
        continue;
      }
      const inner = document.components[target]?.parent;
      // A container may name the first node of its own body.
      if (inner === component.parent || inner === component.id) continue;
      issues.warn(
        'border-crossed',
        path,
        `${edge}, which lies in another body; the edge leaves or enters a loop`,
        component.id,
      );
    }
  }
}
