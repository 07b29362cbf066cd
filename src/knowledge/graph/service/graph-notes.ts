/** The notes of a graph, as they are stored. */
import type { GraphNote } from '../../../records/graph-store.js';
import type { KnowledgeStore } from '../../../records/knowledge-store.js';
import {
  DESCRIPTION_NOTE,
  MAX_DESCRIBED,
  readDescription,
  type WrittenDescription,
} from '../by-model/written-description.js';
import { MAX_NAME } from '../facts.js';
import type { NameDecision } from '../graph-records.js';
import { MAX_WRITTEN, REPORT_NOTE, readWritten, type WrittenReport } from '../reports/written-report.js';
import { aliasesOfTerms } from '../rules/aliases-of-terms.js';
import type { GraphNotes } from './graph-desk.js';

/** Notes of one statement. */
const NOTES = 500;
const WRITTEN = 50;
/** Decisions and aliases that count. */
const MAX_NOTES = 20_000;

/** Reads what belongs to the graph of a dataset as a whole: decisions, other names, and what a model wrote. */
export async function readNotes(store: KnowledgeStore, tenant: string, datasetId: string): Promise<GraphNotes> {
  return {
    ...(await namesOf(store, tenant, datasetId)),
    reports: await writtenOf(store, tenant, datasetId, REPORTS),
    descriptions: await writtenOf(store, tenant, datasetId, DESCRIPTIONS),
  };
}

async function namesOf(
  store: KnowledgeStore,
  tenant: string,
  datasetId: string,
): Promise<Pick<GraphNotes, 'decisions' | 'aliases'>> {
  const decisions: NameDecision[] = [];
  const aliases: (readonly [string, string])[] = [];
  for (const kind of ['decision', 'alias'] as const) {
    let after: string | undefined;
    while (decisions.length + aliases.length < MAX_NOTES) {
      const notes = await store.listNotes(tenant, datasetId, kind, after, NOTES);
      for (const { key, value } of notes) {
        if (kind === 'alias') {
          if (pairOf([value.entity, value.alias]) !== undefined)
            aliases.push([value.entity as string, value.alias as string]);
          continue;
        }
        const names = pairOf(value.names);
        if (names === undefined) continue;
        decisions.push({
          id: key,
          names,
          kind: value.kind === 'apart' ? 'apart' : 'same',
          by: value.by === 'model' ? 'model' : 'user',
        });
      }
      after = notes.at(-1)?.key;
      if (notes.length < NOTES) break;
    }
  }
  const dataset = await store.findDataset(tenant, datasetId);
  return { decisions, aliases: [...aliases, ...aliasesOfTerms(dataset ?? {})] };
}

/** What a model wrote, by the kind of its notes. */
async function writtenOf<T>(
  store: KnowledgeStore,
  tenant: string,
  datasetId: string,
  { kind, read, most }: WrittenNotes<T>,
): Promise<readonly T[]> {
  const found: T[] = [];
  let after: string | undefined;
  while (found.length < most) {
    const notes = await store.listNotes(tenant, datasetId, kind, after, WRITTEN);
    for (const note of notes) {
      const written = read(note);
      if (written !== undefined) found.push(written);
    }
    after = notes.at(-1)?.key;
    if (notes.length < WRITTEN) break;
  }
  return found;
}

/** Notes of one kind that a model wrote, and how many count. */
interface WrittenNotes<T> {
  readonly kind: string;
  readonly read: (note: GraphNote) => T | undefined;
  readonly most: number;
}

const REPORTS: WrittenNotes<WrittenReport> = { kind: REPORT_NOTE, read: readWritten, most: MAX_WRITTEN };
const DESCRIPTIONS: WrittenNotes<WrittenDescription> = {
  ...{ kind: DESCRIPTION_NOTE, read: readDescription, most: MAX_DESCRIBED },
};

/** Two names, sorted; undefined for what is none. */
export function pairOf(value: unknown): readonly [string, string] | undefined {
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const [left, right] = value as unknown[];
  const isName = (one: unknown): one is string =>
    typeof one === 'string' && one.trim() !== '' && one.length <= MAX_NAME;
  if (!isName(left) || !isName(right)) return undefined;
  return left < right ? [left, right] : [right, left];
}
