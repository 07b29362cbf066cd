/** Files on their way to the server. */
import { useEffect, useRef, useState } from 'react';
import { catchError, EMPTY, mergeMap, Subject, Subscription, takeUntil, tap } from 'rxjs';
import { upload } from '../api/upload.js';
import { useClient } from '../shell/studio.js';

/** A file that has not arrived. */
export interface Underway {
  readonly key: number;
  readonly name: string;
  /** 0 to 1. */
  readonly share: number;
  readonly error?: unknown;
}

export interface Uploads {
  readonly underway: readonly Underway[];
  readonly add: (files: Iterable<File>) => void;
  /** Takes a file back, or closes what is said of one that failed. */
  readonly drop: (key: number) => void;
}

/** Files that are sent at once; browsers keep six connections to a server, which other requests need as well. */
const AT_ONCE = 3;

/** Sends files to a path of the API; what the server says of each that arrived is given to `onFile`. */
export function useUploads<T>(path: string, onFile: (data: T) => void): Uploads {
  const client = useClient();
  const [underway, setUnderway] = useState<readonly Underway[]>([]);
  const [queue] = useState(() => new Subject<{ readonly key: number; readonly file: File; readonly path: string }>());
  const [dropped] = useState(() => new Map<number, Subject<void>>());
  const receive = useRef(onFile);
  receive.current = onFile;
  useEffect(() => {
    const change = (key: number, fields: Partial<Underway>) =>
      setUnderway((now) => now.map((one) => (one.key === key ? { ...one, ...fields } : one)));
    const end = (key: number) => {
      dropped.delete(key);
      setUnderway((now) => now.filter((one) => one.key !== key));
    };
    const sent$ = queue.pipe(
      mergeMap(({ key, file, path: to }) => {
        const drop = dropped.get(key);
        // It was taken back before its turn came.
        if (drop === undefined) return EMPTY;
        return upload(client, to, file).pipe(
          takeUntil(drop),
          tap(({ share, data }) => {
            if (data === undefined) change(key, { share });
            else receive.current(data as T);
          }),
          tap({ complete: () => end(key) }),
          catchError((error: unknown) => {
            change(key, { error });
            return EMPTY;
          }),
        );
      }, AT_ONCE),
    );
    const owner = new Subscription(() => dropped.clear());
    owner.add(sent$.subscribe());
    return () => owner.unsubscribe();
  }, [client, queue, dropped]);
  return {
    underway,
    drop: (key) => {
      const drop = dropped.get(key);
      dropped.delete(key);
      drop?.next();
      setUnderway((now) => now.filter((one) => one.key !== key));
    },
    add: (files) => {
      for (const file of files) {
        const key = performance.now() + Math.random();
        dropped.set(key, new Subject());
        setUnderway((now) => [...now, { key, name: file.name, share: 0 }]);
        queue.next({ key, file, path });
      }
    },
  };
}
