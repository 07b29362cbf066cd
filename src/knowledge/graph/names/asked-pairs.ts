/** Names that are perhaps one and that a model was asked about, as they are stored: notes of a graph. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { GraphNote } from '../../../records/graph-store.js';
import type { NameDecision } from '../graph-records.js';
import { nameKey } from './name-forms.js';

/** Kind of the notes about pairs that were asked: one that was answered, and undone by a user, is not asked again. */
export const ASKED_NOTE = 'asked';
/** Pairs of a dataset that models are asked about: their decisions leave room for those of users. */
export const MAX_ASKED = 5_000;

/** Key of the notes of a pair: the same for all spellings of its names, in both orders. */
export function pairNoteKey(names: readonly [string, string]): string {
  const keys = names.map((name) => nameKey(name)).sort();
  return createHash('sha256').update(JSON.stringify(keys)).digest('hex').slice(0, 32);
}

/** The note that keeps what a model decided about a pair. */
export function decisionNote(names: readonly [string, string], kind: NameDecision['kind']): GraphNote {
  return { key: pairNoteKey(names), value: { kind, names: [...names].sort(), by: 'model' } };
}

/** The names of a note that a pair was asked about; undefined for one of another form. */
export function readAsked({ value: { names } }: GraphNote): readonly [string, string] | undefined {
  const { data } = z.tuple([z.string(), z.string()]).safeParse(names);
  return data;
}

/** The note that a pair was asked about. */
export function askedNote(names: readonly [string, string]): GraphNote {
  return { key: pairNoteKey(names), value: { names: [...names].sort() } };
}
