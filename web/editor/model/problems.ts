/** What is wrong with a document, as the server says a moment behind each edit. */
import { catchError, debounceTime, EMPTY, from, map, type Observable, startWith, switchMap } from 'rxjs';
import type { Issue, Validation } from '../../../src/transport/agents/issue-shapes.js';
import type { Client } from '../../api/client.js';
import type { EditorStore } from './editor-store.js';

export type { Issue } from '../../../src/transport/agents/issue-shapes.js';

const CHECK_MS = 500;

/** The problems of what is being edited; while the server is away the last that it told. */
export function problemsOf(store: EditorStore, client: Client): Observable<readonly Issue[]> {
  return store.documents$.pipe(
    debounceTime(CHECK_MS),
    switchMap(() =>
      from(client.call<Validation>('/agents/validate', { method: 'POST', body: { dsl: store.dsl } })).pipe(
        map(({ issues }): readonly Issue[] => issues),
        catchError(() => EMPTY),
      ),
    ),
    startWith([]),
  );
}

/** Where in the parameters of its component a problem lies, names and numbers with dots; empty: nowhere in them. */
export function fieldOfIssue({ path }: Pick<Issue, 'path'>): string {
  const behind = path.split(/\.params\b/)[1];
  if (behind === undefined) return '';
  const steps = [...behind.matchAll(/\.([A-Za-z_]\w*)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]/g)];
  return steps.map(([, name, number, quoted]) => name ?? number ?? quoted ?? '').join('.');
}

/** Problems of a component by the first part of their fields; under the empty name those of none. */
export function fieldIssues(issues: readonly Issue[], component: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const issue of issues) {
    if (issue.component !== component) continue;
    const field = fieldOfIssue(issue).split('.')[0] ?? '';
    found.set(field, [...(found.get(field) ?? []), issue.message]);
  }
  return found;
}
