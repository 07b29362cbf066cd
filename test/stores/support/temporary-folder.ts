import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** A new folder that the caller removes. */
export function makeFolder(): Promise<string> {
  return mkdtemp(path.join(tmpdir(), 'runnel-test-'));
}

export async function removeFolder(folder: string): Promise<void> {
  // A database that was killed may still be writing in it for a moment.
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}

/** A new folder that is removed when the test is over. */
export async function temporaryFolder(): Promise<string> {
  const folder = await makeFolder();
  onTestFinished(() => removeFolder(folder));
  return folder;
}
