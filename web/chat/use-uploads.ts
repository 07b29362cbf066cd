/** Files on their way to the server. */
import { useEffect, useRef, useState } from 'react';
import { Subscription } from 'rxjs';
import { upload } from '../api/upload.js';
import { agentPath } from '../run/paths.js';
import type { UploadedFile } from '../run/start-turn.js';
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
  readonly drop: (key: number) => void;
}

/** Sends files to an agent; each that arrived is given to `onFile`. */
export function useUploads(agent: string, onFile: (file: UploadedFile) => void): Uploads {
  const client = useClient();
  const [underway, setUnderway] = useState<readonly Underway[]>([]);
  const owner = useRef(new Map<number, Subscription>());
  const receive = useRef(onFile);
  receive.current = onFile;
  useEffect(() => {
    const running = owner.current;
    return () => {
      for (const one of running.values()) one.unsubscribe();
      running.clear();
    };
  }, []);
  const change = (key: number, fields: Partial<Underway>) =>
    setUnderway((now) => now.map((one) => (one.key === key ? { ...one, ...fields } : one)));
  const drop = (key: number) => {
    owner.current.get(key)?.unsubscribe();
    owner.current.delete(key);
    setUnderway((now) => now.filter((one) => one.key !== key));
  };
  const begin = (file: File) => {
    const key = performance.now() + Math.random();
    setUnderway((now) => [...now, { key, name: file.name, share: 0 }]);
    const subscription = new Subscription();
    owner.current.set(key, subscription);
    subscription.add(
      upload(client, `${agentPath(agent)}/upload`, file).subscribe({
        next: ({ share, data }) => {
          if (data === undefined) change(key, { share });
          else receive.current(data as UploadedFile);
        },
        error: (error: unknown) => change(key, { error }),
        complete: () => drop(key),
      }),
    );
  };
  return {
    underway,
    drop,
    add: (files) => {
      for (const file of files) begin(file);
    },
  };
}
