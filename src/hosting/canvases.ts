/** The document of a run: which one a request asks for, how it is opened, and the projection of its events into RAGFlow's format. */

import { createHash } from 'node:crypto';
import { type Canvas, type LoadOptions, loadCanvas } from '../canvas/load-canvas.js';
import { RagflowProjection } from '../canvas/ragflow-events.js';
import { EngineError, toEngineError } from '../errors.js';
import type { Plan } from '../graph/plan.js';
import type { JsonObject } from '../json.js';
import { Newest } from '../newest.js';
import type { AgentRecord } from '../records/agents.js';
import type { RunRecord } from '../records/runs.js';
import type { SessionStore } from '../records/sessions.js';
import type { VersionStore } from '../records/versions.js';
import { nothingPublished, noVersion } from './refusals.js';
import type { TurnRequest, TurnTarget } from './start-command.js';

/**
 * The document that a request asks for: the draft, what is published, or one version.
 *
 * @param fallback what it is when the request names none: the draft, or what is published (the draft while nothing is)
 * @throws EngineError NOT_FOUND when there is no such version, or nothing is published.
 */
export async function findDocument(
  versions: VersionStore,
  tenant: string,
  agent: AgentRecord,
  fallback: TurnTarget['fallback'],
  { version, isReleased }: Pick<TurnRequest, 'version' | 'isReleased'>,
): Promise<JsonObject> {
  if (version === 'draft') return agent.dsl;
  if (version !== undefined) {
    const found = await versions.find(tenant, version, agent.id);
    if (found === undefined) throw noVersion();
    return found.dsl;
  }
  if (agent.published !== undefined && (isReleased || fallback === 'published')) return agent.published.dsl;
  if (isReleased) throw nothingPublished();
  return agent.dsl;
}

/** Which document that is: `draft`, `published`, or the id of a version. */
export function versionAsked(
  { published }: Pick<AgentRecord, 'published'>,
  fallback: TurnTarget['fallback'],
  { version, isReleased }: Pick<TurnRequest, 'version' | 'isReleased'>,
): string {
  if (version !== undefined) return version;
  return published !== undefined && (isReleased || fallback === 'published') ? 'published' : 'draft';
}

/** Opens stored documents; one that was opened before is not compiled again. */
export type OpenCanvas = (dsl: JsonObject) => Canvas;

/** Canvases that stay open when nothing refers to the documents that they were opened from, and characters of these documents. */
const MAX_OPEN = 256;
const MAX_OPEN_CHARACTERS = 32 * 1024 * 1024;

/**
 * Opens documents and caches their canvases, by the document and by what is in it: the same one is read from a store again and again.
 *
 * @throws EngineError DOCUMENT_INVALID from the function it gives, with `details.issues`.
 */
export function createCanvasOpener(options: LoadOptions): OpenCanvas {
  const opened = new WeakMap<JsonObject, Canvas>();
  /** By hash, the one that was asked for last at the end. */
  const byHash = new Newest<{ readonly canvas: Canvas; readonly characters: number }>({
    maxCount: MAX_OPEN,
    maxSize: MAX_OPEN_CHARACTERS,
    sizeOf: ({ characters }) => characters,
  });
  return (dsl) => {
    const known = opened.get(dsl);
    if (known !== undefined) return known;
    const text = JSON.stringify(dsl);
    const hash = createHash('sha256').update(text).digest('base64url');
    const canvas = byHash.get(hash)?.canvas ?? open(dsl, options);
    byHash.put(hash, { canvas, characters: text.length });
    opened.set(dsl, canvas);
    return canvas;
  };
}

function open(dsl: JsonObject, options: LoadOptions): Canvas {
  try {
    return loadCanvas(dsl, options);
  } catch (error) {
    // It is stored: whatever is wrong with it is wrong with the data, not with the request.
    if (!EngineError.is(error)) throw error;
    throw new EngineError('DOCUMENT_INVALID', error.message, { details: error.details, cause: error });
  }
}

/** The projection of a run by its record and its plan. */
export function projectionOf(
  run: Pick<RunRecord, 'messageId' | 'sessionId' | 'startedAt' | 'parentRun'>,
  plan: Plan | undefined,
): RagflowProjection {
  const { messageId, sessionId, startedAt, parentRun } = run;
  return new RagflowProjection({ plan, messageId, sessionId, startedAt, resumes: parentRun !== undefined });
}

/** The projection of a run that is not at work here; without its names when its session or its document is gone. */
export async function findProjection(
  sessions: SessionStore,
  openCanvas: OpenCanvas,
  tenant: string,
  run: RunRecord,
): Promise<RagflowProjection> {
  try {
    const session = await sessions.find(tenant, run.sessionId);
    return projectionOf(run, session && openCanvas(session.dsl).plan);
  } catch (error) {
    // A store that is away is tried again; what is wrong with the data stays wrong.
    if (toEngineError(error, 'INTERNAL').retryable) throw error;
    return projectionOf(run, undefined);
  }
}
