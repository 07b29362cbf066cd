/** What a build of a graph is asked for, and how far it is: plain JSON, which the store keeps. */
import { z } from 'zod';
import type { JsonObject } from '../../../json.js';
import { ENTITY_TYPES } from '../facts.js';

/** Layers that a build can make, in their order. */
export const BUILD_LAYERS = ['links', 'rules', 'model'] as const;

/** One of {@link BUILD_LAYERS}. */
export type BuildLayer = (typeof BUILD_LAYERS)[number];

const bound = z.number().nonnegative();
/** Chunks that one build may be told to read alone. */
export const MAX_BUILD_CHUNKS = 10_000;

/** The form of what a build is asked for. */
export const buildRequestSchema = z.strictObject({
  layers: z.array(z.enum(BUILD_LAYERS)).min(1).default(['links', 'rules']),
  /** What models may spend together; what is absent has no bound. */
  budget: z.strictObject({ tokens: bound, calls: bound, money: bound, ms: bound }).partial().default({}),
  /** Types that a model chooses from. */
  entity_types: z
    .array(z.string().min(1).max(100))
    .max(100)
    .default([...ENTITY_TYPES]),
  /** Whether a model writes reports on communities. Default: with the layer `model`. */
  reports: z.boolean().exactOptional(),
  /** Ids of the chunks that are read; others stay as they are. Default: all. */
  chunks: z.array(z.string().min(1).max(100)).min(1).max(MAX_BUILD_CHUNKS).exactOptional(),
  /** Model that reads chunks; empty for the default one. */
  model: z.string().max(200).default(''),
});

/** What a build is asked for. */
export type BuildRequest = z.output<typeof buildRequestSchema>;

/** Whether reports are written by a build. */
export function writesReports({ layers, reports }: Pick<BuildRequest, 'layers' | 'reports'>): boolean {
  return reports ?? layers.includes('model');
}

/** What a build counts: chunks that its layers read, pairs of names that a model is asked about, descriptions and reports that are written. */
export type BuildPart = BuildLayer | 'names' | 'descriptions' | 'reports';

/** What was spent. */
export interface BuildSpent {
  readonly calls: number;
  readonly tokens: number;
  /** Null where the price of the model is not known. */
  readonly money: number | null;
  readonly ms: number;
}

/** How far a build is. */
export interface BuildProgress {
  readonly request: BuildRequest;
  /** Chunks that each layer has read, of those that it was to read; pairs of names that were asked about; descriptions and reports that were written, of those that were missing or stale. */
  readonly done: Readonly<Partial<Record<BuildPart, number>>>;
  readonly of: Readonly<Partial<Record<BuildPart, number>>>;
  readonly spent: BuildSpent;
  /** What is missing at the end, one line each: the budget was reached, a model answered nothing that can be used. */
  readonly missing: readonly string[];
  /** Share that is done, 0 to 1. */
  readonly progress: number;
  readonly message: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly finishedAt: number | null;
  /** How many processes had begun with it when something was done last. @default 0: nothing was */
  readonly begunAtProgress?: number;
}

const NOTHING_SPENT: BuildSpent = { calls: 0, tokens: 0, money: 0, ms: 0 };

/** A build that has not begun. */
export function newProgress(request: BuildRequest, now: number): BuildProgress {
  return {
    ...{ request, done: {}, of: {}, spent: NOTHING_SPENT, missing: [], progress: 0, message: 'waits' },
    ...{ startedAt: now, finishedAt: null },
  };
}

/** Progress as the store keeps it. */
export function storedProgress(progress: BuildProgress): JsonObject {
  return progress as unknown as JsonObject;
}

/** Progress as it was stored. */
export function readProgress(value: JsonObject): BuildProgress {
  return value as unknown as BuildProgress;
}
