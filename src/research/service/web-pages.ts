/** Pages of the web that a search found, read themselves: what of them fits a question is evidence. */
import {
  catchError,
  concatMap,
  defer,
  from,
  map,
  mergeMap,
  type Observable,
  of,
  shareReplay,
  tap,
  toArray,
} from 'rxjs';
import type { EgressClient, EgressResponse } from '../../adapters/egress/egress-client.js';
import { BROWSER_HEADERS } from '../../adapters/egress/request-headers.js';
import { fileKind } from '../../documents/reading/file-kind.js';
import { readInThread } from '../../documents/reading/read-document.js';
import { EngineError, shownMessage, toEngineError } from '../../errors.js';
import { isJsonObject, type Json } from '../../json.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import type { Threads } from '../../threads/threads.js';
import { keyOf } from '../calls/ask-call.js';
import type { Budget } from '../calls/budget.js';
import type { Journal } from '../calls/journal.js';
import type { ResearchPlace } from '../deep/deep-ports.js';
import { rankByRank } from '../deep/looks.js';
import { canonicalAddress } from '../evidence/canonical-address.js';
import { HeldWords } from '../evidence/check-statement.js';
import type { FoundEvidence } from '../evidence/evidence-table.js';
import { piecesOf } from './text-pieces.js';

/** Pages of one search that are read, the best first, and passages of one page that are evidence for one question. */
const PAGES_AT_ONCE = 5;
const PASSAGES = 3;
/** Share of the fit of the best passage that others of its page must have. */
const FIT_SHARE = 0.5;
/** How much the words of the search's own text count beside those of the question. */
const SNIPPET_WEIGHT = 0.5;
/** Bytes of a page, UTF-16 units of its text that are kept, and milliseconds for both. */
const MAX_BYTES = 5 * 1_048_576;
const MAX_TEXT = 60_000;
const PAGE_MS = 15_000;
const MAX_REDIRECT_NAME = 200;
const MAX_REASON = 200;

const NOT_FIRST = `it is not among the first ${PAGES_AT_ONCE} pages of its search`;
const NOT_FITTING = 'nothing on it fits the question';

/** A page as it was read. */
export interface WebPage {
  readonly text: string;
  /** Where it was, behind redirects. */
  readonly url: string;
}

/** What pages are read with. */
export interface PagePorts {
  /** Reads one page; emits once. Cold: unsubscribing closes its connection. */
  readonly load: (url: string) => Observable<WebPage>;
  readonly budget: Budget;
  readonly journal: Journal;
}

/** What came of a page: its text, or why there is none. */
type PageOutcome = WebPage | { readonly problem: string };

/**
 * Reads a page: HTML, PDF, Office and text, 5 MiB and 15 seconds at most; the rules for addresses of authors apply to it and to every redirect.
 *
 * Errors: those of `EgressClient`; EGRESS_FAILED for a status that is no success; FILE_UNREADABLE for what is no text.
 */
export function loadWebPage(
  url: string,
  { http, threads }: { readonly http: Pick<EgressClient, 'fetch'>; readonly threads?: Threads | undefined },
): Observable<WebPage> {
  return http
    .fetch({ url, headers: BROWSER_HEADERS, maxBytes: MAX_BYTES, timeoutMs: PAGE_MS })
    .pipe(
      concatMap((answer) =>
        fromAbortable((signal) => textOf(answer, threads, signal)).pipe(map((text) => ({ text, url: answer.url }))),
      ),
    );
}

async function textOf(answer: EgressResponse, threads: Threads | undefined, signal: AbortSignal): Promise<string> {
  const { status, url, contentType, bytes } = answer;
  if (status < 200 || status > 299) {
    throw new EngineError('EGRESS_FAILED', `The page was answered with status ${status}.`, { details: { status } });
  }
  const name = new URL(url).pathname.split('/').at(-1)?.slice(-MAX_REDIRECT_NAME) || 'page';
  const file = { id: '', name, mimeType: contentType === '' ? 'text/html' : contentType, bytes };
  if (fileKind(file) === 'image') throw new EngineError('FILE_UNREADABLE', 'The page is a picture.');
  const text = await readInThread(file, { maxCharacters: MAX_TEXT, signal }, threads);
  if (text.trim() === '') throw new EngineError('FILE_UNREADABLE', 'The page has no text.');
  return text;
}

/**
 * A place whose pages are read themselves, side by side, each address once in a research and in no process twice. Where a page cannot be read, what the search
 * said of it stays, and `unread` says why.
 *
 * ```text
 * search  --(ab)|
 * a         ---a|
 * b         -#
 * found   -----(a1 b' a2)|   (passages of a; of b what the search said)
 * ```
 */
export function pagePlace(place: ResearchPlace, ports: PagePorts): ResearchPlace {
  const reading = new Map<string, Observable<PageOutcome>>();
  /** Each address once: a second question waits for the reading of the first. */
  const read = (url: string): Observable<PageOutcome> => {
    const address = canonicalAddress(url);
    const known = reading.get(address);
    if (known !== undefined) return known;
    const page$ = outcomeOf(url, address, ports).pipe(shareReplay({ bufferSize: 1, refCount: true }));
    reading.set(address, page$);
    return page$;
  };
  return {
    where: place.where,
    find: (question, most) =>
      place.find(question, most).pipe(
        concatMap((found) =>
          from(oncePerAddress(found)).pipe(
            mergeMap((one, at) =>
              (at < PAGES_AT_ONCE && one.url !== undefined
                ? read(one.url).pipe(map((outcome) => passagesOf(one, outcome, question)))
                : of([{ ...one, unread: NOT_FIRST }])
              ).pipe(map((passages) => ({ at, passages }))),
            ),
            toArray(),
          ),
        ),
        map((pages) => rankByRank(pages.sort((a, b) => a.at - b.at).map(({ passages }) => passages)).slice(0, most)),
      ),
  };
}

function oncePerAddress(found: readonly FoundEvidence[]): readonly FoundEvidence[] {
  return [...new Map([...found].reverse().map((one) => [canonicalAddress(one.url ?? one.id), one])).values()].reverse();
}

/** Reads one address, or says why not; never fails. What the budget does not allow is not kept. */
function outcomeOf(url: string, address: string, { load, budget, journal }: PagePorts): Observable<PageOutcome> {
  return defer((): Observable<PageOutcome> => {
    const key = keyOf('page', { address });
    const kept = journal.find(key);
    if (isJsonObject(kept)) return of(kept as unknown as PageOutcome);
    const page$ = load(url).pipe(
      catchError((error: unknown) => of({ problem: reasonOf(error) })),
      tap((outcome) => journal.keep(key, outcome as unknown as Json)),
    );
    return budget.reserveWeb('page').pipe(concatMap(() => page$));
  }).pipe(catchError((error: unknown) => of({ problem: reasonOf(error) })));
}

function reasonOf(error: unknown): string {
  return shownMessage(toEngineError(error, 'EGRESS_FAILED')).slice(0, MAX_REASON);
}

/** The passages of a page that fit the question best; of a page that was not read, what the search said. */
function passagesOf(found: FoundEvidence, outcome: PageOutcome, question: string): readonly FoundEvidence[] {
  if ('problem' in outcome) return [{ ...found, unread: outcome.problem }];
  const address = canonicalAddress(outcome.url);
  const fitting = piecesOf(outcome.text)
    .map((text, at) => {
      const held = new HeldWords([text]);
      return { at, text, fit: held.shareOf(question) + SNIPPET_WEIGHT * held.shareOf(found.text) };
    })
    .filter(({ fit }) => fit > 0)
    .sort((a, b) => b.fit - a.fit);
  const least = (fitting[0]?.fit ?? 0) * FIT_SHARE;
  const passages = fitting
    .slice(0, PASSAGES)
    .filter(({ fit }) => fit >= least)
    .map(({ at, text }) => ({ ...found, id: `${address}#${at + 1}`, text, url: outcome.url }));
  return passages.length === 0 ? [{ ...found, unread: NOT_FITTING }] : passages;
}
