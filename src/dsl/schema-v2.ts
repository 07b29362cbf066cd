/** Version 2 documents, read strictly. */

import * as z from 'zod/mini';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { indexIds } from './component-id.js';
import type { Document } from './document.js';
import { checkShape, type IssueList } from './issues.js';
import { ownObject, ownText, ownTexts, ownValue } from './json-copy.js';
import { objectShape, optionalObject } from './json-shapes.js';
import { type ComponentDraft, linkComponents, readLayout, stripParams } from './link.js';
import { readState, readVariables } from './schema-v1.js';

const topLevel = z.strictObject({ version: z.literal(2, 'expected the number 2'), components: objectShape });

const entryShape = z.strictObject({
  id: z.optional(z.string()),
  name: z.string(),
  downstream: z.nullish(z.array(z.string())),
  params: optionalObject,
  outputs: optionalObject,
});

/**
 * What a version 1 document holds and version 2 has no room for; it travels beside the version 2 document.
 * `keys` maps version 2 ids to the version 1 keys they came from. All of it is JSON.
 */
export interface DocumentSidecar
  extends Partial<
    Pick<Document, 'globals' | 'variables' | 'history' | 'retrieval' | 'memory' | 'path' | 'graph' | 'extra'>
  > {
  readonly keys?: JsonObject;
}

/**
 * Reads a version 2 document strictly from a copy made by `copyJson`: an unknown field is an error.
 *
 * Version 2 has no field for membership of a body. Runnel writes it as `params.parent_id`, and takes a `parent_id`
 * that names a component out of the parameters again; with a sidecar, its layout gives the body of components without one.
 */
export function readV2(value: JsonObject, issues: IssueList, sidecar?: DocumentSidecar): Document {
  checkShape(topLevel, value, [], issues);
  const entries = Object.entries(ownObject(value, 'components') ?? {});
  if (entries.length === 0) {
    issues.error('no-components', ['components'], 'there are no components; a canvas needs at least a Begin');
  }
  const drafts: ComponentDraft[] = [];
  for (const [id, entry] of entries) {
    const draft = readEntry(id, entry, issues);
    if (draft !== undefined) drafts.push(draft);
  }
  const graph = ownObject(sidecar, 'graph');
  const keys = ownObject(sidecar, 'keys');
  const index = indexIds(drafts.map((draft) => draft.id));
  const state = readState(sidecar);
  return {
    version: 2,
    components: linkComponents(drafts, readLayout(graph), issues, { exact: true }),
    ...state,
    path: state.path.map((id) => index.resolve(id) ?? id),
    variables: readVariables(sidecar, issues),
    ...(graph === undefined ? {} : { graph }),
    ...(keys === undefined ? {} : { v1Keys: keys }),
    extra: ownObject(sidecar, 'extra') ?? {},
  };
}

function readEntry(id: string, entry: Json, issues: IssueList): ComponentDraft | undefined {
  const path = ['components', id];
  checkId(id, entry, issues);
  checkShape(entryShape, entry, path, issues, id);
  if (!isJsonObject(entry)) return undefined;
  const name = ownText(entry, 'name');
  if (ownValue(entry, 'name') === '') {
    issues.error('name-empty', [...path, 'name'], 'the class name is empty; write one such as "LLM"', id);
  }
  return {
    id,
    type: name ?? id,
    params: stripParams(ownObject(entry, 'params') ?? {}),
    downstream: ownTexts(entry, 'downstream'),
  };
}

function checkId(id: string, entry: Json, issues: IssueList): void {
  const path = ['components', id];
  if (id === '') issues.error('id-invalid', path, 'a component has the empty text as its id', id);
  if (id.includes(':')) {
    issues.error('id-invalid', path, `the id ${JSON.stringify(id)} has a colon, which marks version 1; use "_"`, id);
  }
  const own = ownText(entry, 'id');
  if (own !== undefined && own !== id) {
    const message = `"id" is ${JSON.stringify(own)}, but the key is ${JSON.stringify(id)}; make them equal or drop "id"`;
    issues.error('id-mismatch', [...path, 'id'], message, id);
  }
}
