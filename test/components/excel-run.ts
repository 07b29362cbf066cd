import { isObservable, lastValueFrom, type Observable, toArray } from 'rxjs';
import { excelProcessor } from '../../src/components/excel-processor.js';
import type { StoredFile } from '../../src/components/services.js';
import type { NodeEvent } from '../../src/graph/node-events.js';
import type { JsonObject } from '../../src/json.js';
import { activationOf, eventsOf, nodeOf } from './text-activation.js';

/** A store that keeps what is saved. */
export function storeOf(files: Readonly<Record<string, Uint8Array | string>> = {}) {
  const saved: Omit<StoredFile, 'id'>[] = [];
  const read = async (id: string): Promise<StoredFile | undefined> => {
    const content = files[id];
    return content === undefined ? undefined : { id, name: id, mimeType: '', bytes: Buffer.from(content) };
  };
  const save = async (file: Omit<StoredFile, 'id'>): Promise<string> => `doc-${saved.push(file)}`;
  return { saved, services: { files: { read, save } } };
}

/** What a node says that reads or writes files. */
export async function say(
  params: JsonObject,
  values: JsonObject = {},
  services: object = {},
): Promise<readonly NodeEvent[]> {
  const result = nodeOf(excelProcessor, params)(activationOf({ outputs: { n: values }, services }));
  if (!isObservable(result)) return eventsOf(result);
  return await lastValueFrom((result as Observable<NodeEvent>).pipe(toArray()));
}
