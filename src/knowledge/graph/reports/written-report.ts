/** Reports that a model wrote, as they are stored: notes of a graph. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../../../json.js';
import type { GraphNote } from '../../../records/graph-store.js';
import type { ReportText } from '../calls/community-report.js';
import type { ReportMaterial } from '../graph-answers.js';

/** A report that a model wrote, with what it was made of. */
export interface WrittenReport {
  readonly key: string;
  readonly community: string;
  readonly level: number;
  /** That of the community when it was written. */
  readonly fingerprint: string;
  /** Ids of the passages that the model read. */
  readonly sources: readonly string[];
  /** Undefined where the model answered nothing that can be used: the rules' report stands. */
  readonly report: ReportText | undefined;
}

/** Kind of the notes. */
export const REPORT_NOTE = 'report';
/** Reports of a dataset. */
export const MAX_WRITTEN = 1_000;

const writtenSchema = z.object({
  community: z.string(),
  level: z.number(),
  fingerprint: z.string(),
  sources: z.array(z.string()),
  report: z
    .object({
      title: z.string(),
      summary: z.string(),
      rating: z.number(),
      findings: z.array(z.object({ summary: z.string(), chunks: z.array(z.string()) })),
    })
    .nullable(),
});

/** The note that keeps a report on a community; undefined `report` where there is none that can be used. */
export function reportNote(
  { community, level, fingerprint }: ReportMaterial,
  sources: readonly string[],
  report: ReportText | undefined,
): GraphNote {
  const value = { community, level, fingerprint, sources: [...sources], report: report ?? null };
  return { key: keyOf(community), value: value as unknown as JsonObject };
}

/** A stored note as a report; undefined for one of another form. */
export function readWritten({ key, value }: GraphNote): WrittenReport | undefined {
  const { data } = writtenSchema.safeParse(value);
  return data && { ...data, key, report: data.report ?? undefined };
}

/** Names of communities hold what a key may not. */
function keyOf(community: string): string {
  return createHash('sha256').update(community).digest('hex').slice(0, 32);
}
