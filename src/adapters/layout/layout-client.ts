/** A server that sees the layout of pages: RAGFlow's protocol of deepdoc. */
import { catchError, defer, map, type Observable, of, retry, throwError, timer } from 'rxjs';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { parseJson } from '../../json.js';
import { fromAbortable } from '../../operators/from-abortable.js';

/** Kinds of regions by their numbers; several numbers mean the same. */
export const REGIONS = [
  'title',
  'text',
  'reference',
  'figure',
  'figure caption',
  'table',
  'table caption',
  'table caption',
  'equation',
  'figure caption',
] as const;

/** One of {@link REGIONS}. */
export type RegionKind = (typeof REGIONS)[number];

/** A region of a page, in pixels of the picture that was sent, from its upper left corner. */
export interface Region {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  /** How sure the model is, 0 to 1. */
  readonly score: number;
  readonly kind: RegionKind;
}

/** How the server is asked. */
export interface LayoutClientOptions {
  /** Such as `http://deepdoc:11234`. */
  readonly url: string;
  /** Milliseconds of one try. @default 18,000 */
  readonly timeoutMs?: number | undefined;
  /** Tries of one page, each with a connection of its own. @default 3 */
  readonly tries?: number | undefined;
  /** Milliseconds between two tries. @default 200 */
  readonly pauseMs?: number | undefined;
}

/** What the server sees of a page; `failed` without any regions when it gave no answer. */
export interface SeenPage {
  readonly regions: readonly Region[];
  readonly failed?: string | undefined;
}

/** Regions of a page, and bytes of an answer, at most. */
const MAX_REGIONS = 1_000;
const MAX_BYTES = 1_048_576;

const answerSchema = z.object({ bboxes: z.array(z.array(z.number())).max(100_000) });

/**
 * Asks for the layout of a page given as a JPEG; emits once and never errors. Unsubscribing closes the connection.
 *
 * ```text
 * try 1     --#
 * try 2          --#
 * try 3               --r|
 * result    ------------(r|)
 * ```
 */
export function askForLayout(options: LayoutClientOptions, jpeg: Uint8Array): Observable<SeenPage> {
  const { url, timeoutMs = 18_000, tries = 3, pauseMs = 200 } = options;
  return defer(() => fromAbortable((signal) => ask(url, jpeg, { timeoutMs, signal }))).pipe(
    retry({ count: tries - 1, delay: () => timer(pauseMs) }),
    map((regions): SeenPage => ({ regions })),
    catchError((error: unknown) =>
      error instanceof Error ? of({ regions: [], failed: error.message }) : throwError(() => error),
    ),
  );
}

async function ask(
  url: string,
  jpeg: Uint8Array,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<readonly Region[]> {
  const agent = new Agent({ connect: { timeout: timeoutMs }, maxResponseSize: MAX_BYTES });
  const own = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const boundary = `runnel-${crypto.randomUUID()}`;
    const { statusCode, body } = await request(`${url.replace(/\/+$/, '')}/predict`, {
      method: 'POST',
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: formOf(boundary, jpeg),
      dispatcher: agent,
      signal: own,
    });
    const text = await body.text();
    if (statusCode !== 200) throw failure(`it answered with status ${statusCode}`);
    return regionsIn(text);
  } finally {
    await agent.destroy();
  }
}

function formOf(boundary: string, jpeg: Uint8Array): Buffer {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="request"; filename="page.jpg"\r\nContent-Type: image/jpeg\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), jpeg, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}

function regionsIn(text: string): readonly Region[] {
  const { success, data } = answerSchema.safeParse(parseJson(text));
  if (!success) throw failure('its answer is no list of regions');
  return data.bboxes
    .slice(0, MAX_REGIONS)
    .flatMap(([left = 0, top = 0, right = 0, bottom = 0, score = 0, type = -1]) => {
      const kind = REGIONS[type];
      return kind === undefined || !(right > left) || !(bottom > top)
        ? []
        : [{ left, top, right, bottom, score, kind }];
    });
}

function failure(why: string): EngineError {
  return new EngineError('EGRESS_FAILED', `The server for layouts cannot be used: ${why}.`, { retryable: true });
}
