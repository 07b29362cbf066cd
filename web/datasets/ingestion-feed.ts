/** What the server tells of documents while they become searchable. */
import {
  defer,
  EMPTY,
  fromEvent,
  map,
  Observable,
  repeat,
  retry,
  type SchedulerLike,
  scan,
  startWith,
  switchMap,
  timer,
} from 'rxjs';
import { isJsonObject, parseOwnJson } from '../../src/json.js';
import type { Client } from '../api/client.js';
import { Frames } from '../api/stream-link.js';
import { datasetPath, type RunState } from './dataset-data.js';

/** How far a document is. */
export interface DocumentProgress {
  readonly id: string;
  readonly run: RunState;
  /** 0 to 1; -1 when it failed. */
  readonly progress: number;
  /** The step that is at work; empty between steps. */
  readonly step: string;
  readonly chunks: number;
}

/** Pauses before a stream that broke off is opened again, in milliseconds. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

/** Documents that are kept in mind; the one that was told of the longest ago is forgotten. */
const MAX_DOCUMENTS = 500;

/**
 * The newest progress of each document of a dataset, by id, again and again. The stream is open while the page is in sight: browsers keep six
 * connections to a server, and hidden tabs need none of them. It never fails and never ends; lost connections are opened again.
 */
export function ingestionFeed(
  client: Client,
  dataset: string,
  scheduler?: SchedulerLike,
): Observable<ReadonlyMap<string, DocumentProgress>> {
  const stream$ = defer(() => progressOf(client, dataset)).pipe(
    retry({
      delay: (_, count) => timer(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (count - 1)), scheduler),
      resetOnSuccess: true,
    }),
    repeat({ delay: () => timer(FIRST_PAUSE_MS, scheduler) }),
  );
  return fromEvent(document, 'visibilitychange').pipe(
    startWith(undefined),
    map(() => document.visibilityState),
    switchMap((state) => (state === 'hidden' ? EMPTY : stream$)),
    scan((known: ReadonlyMap<string, DocumentProgress>, one) => withNewest(known, one), new Map()),
  );
}

function withNewest(known: ReadonlyMap<string, DocumentProgress>, one: DocumentProgress) {
  const next = new Map(known);
  next.delete(one.id);
  next.set(one.id, one);
  const [oldest] = next.keys();
  if (next.size > MAX_DOCUMENTS && oldest !== undefined) next.delete(oldest);
  return next;
}

function progressOf(client: Client, dataset: string): Observable<DocumentProgress> {
  return new Observable((subscriber) => {
    const abort = new AbortController();
    subscriber.add(() => abort.abort());
    const read = async (): Promise<void> => {
      const path = `${datasetPath(dataset)}/events`;
      const { body, ok } = await client.answer(path, { signal: abort.signal }, { accept: 'text/event-stream' });
      if (!ok || body === null) throw new Error('the server gives no progress');
      const reader = body.pipeThrough(new TextDecoderStream()).getReader();
      const frames = new Frames();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        for (const data of frames.add(value)) {
          const progress = readProgress(data);
          if (progress !== undefined) subscriber.next(progress);
        }
      }
      subscriber.complete();
    };
    read().catch((error: unknown) => subscriber.error(error));
  });
}

function readProgress(data: string): DocumentProgress | undefined {
  const event = parseOwnJson(data);
  if (!isJsonObject(event) || event.type !== 'progress' || typeof event.document_id !== 'string') return undefined;
  const { document_id: id, run, progress, step, chunks } = event;
  return {
    id,
    run: run as RunState,
    progress: typeof progress === 'number' ? progress : 0,
    step: typeof step === 'string' ? step : '',
    chunks: typeof chunks === 'number' ? chunks : 0,
  };
}
