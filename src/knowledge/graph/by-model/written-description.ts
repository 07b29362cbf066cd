/** Descriptions of entities that a model made of several, as they are stored: notes of a graph. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { GraphNote } from '../../../records/graph-store.js';
import type { DescribedMaterial } from '../graph-answers.js';

/** A description that a model wrote, with what it was made of. */
export interface WrittenDescription {
  readonly key: string;
  /** Name that the entity had then. */
  readonly name: string;
  /** Of all descriptions that the entity had then. */
  readonly fingerprint: string;
  /** Of the descriptions that the model read: chunk and hash of its text. */
  readonly sources: readonly string[];
  /** Undefined where the model answered nothing that can be used: what texts say stands. */
  readonly description: string | undefined;
}

/** Kind of the notes. */
export const DESCRIPTION_NOTE = 'description';
/** Descriptions of a dataset. */
export const MAX_DESCRIBED = 2_000;

const writtenSchema = z.object({
  name: z.string(),
  fingerprint: z.string(),
  sources: z.array(z.string()),
  description: z.string().nullable(),
});

/** The note that keeps the description of an entity; undefined `description` where there is none that can be used. */
export function descriptionNote(
  { entity, name, fingerprint, sources }: DescribedMaterial,
  description: string | undefined,
): GraphNote {
  // Ids of entities hold what a key may not.
  const key = createHash('sha256').update(entity).digest('hex').slice(0, 32);
  return { key, value: { name, fingerprint, sources: [...sources], description: description ?? null } };
}

/** A stored note as a description; undefined for one of another form. */
export function readDescription({ key, value }: GraphNote): WrittenDescription | undefined {
  const { data } = writtenSchema.safeParse(value);
  return data && { ...data, key, description: data.description ?? undefined };
}
