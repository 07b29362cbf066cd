import { NEVER, type Observable, of, takeUntil, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { IngestionProgress } from '../../../src/knowledge/base/ingestion-hub.js';
import { watchProgress } from '../../../src/knowledge/base/watch-progress.js';
import type { DocumentRecord, DocumentRun } from '../../../src/records/knowledge.js';
import { marbles } from '../../support/scheduler.js';

const POLL_MS = 5;

const stored = (id: string, run: DocumentRun, progress = 0, attempt = 1): DocumentRecord =>
  ({ id, datasetId: 'd', run, progress, progressMsg: '', attempt, chunkCount: 0 }) as unknown as DocumentRecord;

const live = (documentId: string, run: DocumentRun, progress: number): IngestionProgress => ({
  ...{ tenant: 't', datasetId: 'd', documentId, run, progress },
  ...{ step: 'parse', message: '', chunks: 0 },
});

/** What is told, as `id run share`. */
const told = ({ documentId, run, progress }: IngestionProgress) => `${documentId} ${run} ${progress}`;

/** Looks that give one list after the other, the last again and again. */
function looks(...lists: readonly (readonly DocumentRecord[] | undefined)[]) {
  let at = 0;
  const asked: (readonly string[])[] = [];
  const look = (running: readonly string[]): Observable<readonly DocumentRecord[] | undefined> => {
    asked.push(running);
    at += 1;
    return of(lists[Math.min(at, lists.length) - 1]);
  };
  return { look, asked };
}

/** Notes what is told within so many milliseconds. */
const note = (source$: Observable<IngestionProgress>, untilMs: number, seen: string[]) =>
  source$.pipe(takeUntil(timer(untilMs))).subscribe((progress) => seen.push(told(progress)));

describe('watchProgress', () => {
  it('begins with what runs, and tells what is new of it', () =>
    marbles(({ flush }) => {
      const { look } = looks(
        [stored('a', 'RUNNING', 0.1), stored('b', 'DONE', 1)],
        [stored('a', 'RUNNING', 0.1)],
        [stored('a', 'DONE', 1)],
      );
      const seen: string[] = [];
      note(watchProgress({ tenant: 't', live$: NEVER, look, pollMs: POLL_MS }), 13, seen);
      flush();
      expect(seen).toEqual(['a RUNNING 0.1', 'a DONE 1']);
    }));

  it('tells at once what this process does, and not again what the store says later', () =>
    marbles(({ cold, flush, expectSubscriptions }) => {
      const values = { p: live('a', 'RUNNING', 0.5), e: live('a', 'DONE', 1) };
      const live$ = cold('  -p----e----', values);
      const liveSubs = '    ^-----------!';
      const { look } = looks([stored('a', 'RUNNING', 0)], [stored('a', 'RUNNING', 0.3)], [stored('a', 'DONE', 1)]);
      const seen: string[] = [];
      note(watchProgress({ tenant: 't', live$, look, pollMs: POLL_MS }), 12, seen);
      expectSubscriptions(live$.subscriptions).toBe(liveSubs);
      flush();
      expect(seen).toEqual(['a RUNNING 0', 'a RUNNING 0.5', 'a DONE 1']);
    }));

  it('tells of a document that another process parsed between two looks, once', () =>
    marbles(({ flush }) => {
      const { look } = looks([stored('a', 'DONE', 1)], [stored('a', 'DONE', 1, 2)], [stored('a', 'DONE', 1, 2)]);
      const seen: string[] = [];
      note(watchProgress({ tenant: 't', live$: NEVER, look, pollMs: POLL_MS }), 14, seen);
      flush();
      expect(seen).toEqual(['a DONE 1']);
    }));

  it('asks for what ran before', () =>
    marbles(({ flush }) => {
      const { look, asked } = looks([stored('a', 'RUNNING'), stored('b', 'DONE')], []);
      note(watchProgress({ tenant: 't', live$: NEVER, look, pollMs: POLL_MS }), 7, []);
      flush();
      expect(asked).toEqual([[], ['a']]);
    }));

  it('ends when the dataset is gone', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const live$ = cold<IngestionProgress>(' ------------');
      const liveSubs = '   ^----!';
      const { look } = looks([], undefined);
      expectObservable(watchProgress({ tenant: 't', live$, look, pollMs: POLL_MS })).toBe('-----|');
      expectSubscriptions(live$.subscriptions).toBe(liveSubs);
    }));

  it('fails with the look and with what is told, and leaves the other', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const live$ = cold<IngestionProgress>('  --#', undefined, 'away');
      const look$ = cold<readonly DocumentRecord[]>('  ------');
      const lookSubs = '    ^-!';
      expectObservable(watchProgress({ tenant: 't', live$, look: () => look$, pollMs: POLL_MS })).toBe(
        '--#',
        undefined,
        'away',
      );
      expectSubscriptions(look$.subscriptions).toBe(lookSubs);
      const broken$ = cold<readonly DocumentRecord[]>('#', undefined, 'gone');
      expectObservable(watchProgress({ tenant: 't', live$: NEVER, look: () => broken$, pollMs: POLL_MS })).toBe(
        '#',
        undefined,
        'gone',
      );
    }));

  it('does not look again before a look has ended', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const look$ = cold('-------(a|)', { a: [stored('a', 'RUNNING')] });
      const subs = ['     ^------!', '          ----------^--!'];
      const until = '     -------------!';
      expectObservable(watchProgress({ tenant: 't', live$: NEVER, look: () => look$, pollMs: POLL_MS }), until).toBe(
        '-------a-----',
        { a: { ...live('a', 'RUNNING', 0), step: '' } },
      );
      expectSubscriptions(look$.subscriptions).toBe(subs.map((one) => one.trim()));
    }));
});
