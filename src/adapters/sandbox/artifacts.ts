import type { Files } from '../../records/files.js';
import { artifactEnding } from './artifact-rules.js';
import type { CodeArtifact } from './code-runner.js';
import type { LinkedArtifact } from './output.js';

/** Where the server gives such files back; see `src/transport/files`. */
const PATH = '/api/v1/documents/artifact';

/** Where the files of a script go. */
export interface KeepOptions {
  /** Undefined: nowhere. */
  readonly files: Files | undefined;
  readonly session: string | undefined;
  /** Until when, in milliseconds since 1970; undefined: for ever. */
  readonly expiresAt: number | undefined;
}

/** Keeps the files of a script and says where they can be fetched. */
export async function keepArtifacts(
  artifacts: readonly CodeArtifact[],
  { files, session, expiresAt }: KeepOptions,
): Promise<readonly LinkedArtifact[]> {
  const kept: LinkedArtifact[] = [];
  for (const file of artifacts) {
    const stored = expiresAt === undefined ? file : { ...file, expiresAt };
    const url = files === undefined ? '' : urlOf(await files.save(stored), file.name, session);
    kept.push({ file, url });
  }
  return kept;
}

/** The object is the id with the ending of the name, by which its type is known again. */
function urlOf(id: string, name: string, session: string | undefined): string {
  const query = session === undefined || session === '' ? '' : `?session_id=${encodeURIComponent(session)}`;
  return `${PATH}/${encodeURIComponent(id)}.${artifactEnding(name)}${query}`;
}
