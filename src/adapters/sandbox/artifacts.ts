/** Files that scripts leave: stored, linked, expired. */
import type { Files } from '../../records/files.js';
import { artifactEnding } from './artifact-rules.js';
import type { CodeArtifact } from './code-runner.js';
import type { LinkedArtifact } from './output.js';

/** Where the server gives such files back; see `src/transport/files`. */
const PATH = '/api/v1/documents/artifact';

/** Where the files of a script go. */
export interface KeepOptions {
  /** Undefined: they are not stored. */
  readonly files: Files | undefined;
  readonly session: string | undefined;
  /** Expiry in milliseconds since 1970; undefined: never. */
  readonly expiresAt: number | undefined;
}

/** Stores the files of a script and gives their URLs. */
export async function storeArtifacts(
  artifacts: readonly CodeArtifact[],
  { files, session, expiresAt }: KeepOptions,
): Promise<readonly LinkedArtifact[]> {
  const linked: LinkedArtifact[] = [];
  for (const file of artifacts) {
    const stored = expiresAt === undefined ? file : { ...file, expiresAt };
    const url = files === undefined ? '' : urlOf(await files.save(stored), file.name, session);
    linked.push({ file, url });
  }
  return linked;
}

/** The object is the id with the ending of the name, by which its type is known again. */
function urlOf(id: string, name: string, session: string | undefined): string {
  const query = session === undefined || session === '' ? '' : `?session_id=${encodeURIComponent(session)}`;
  return `${PATH}/${encodeURIComponent(id)}.${artifactEnding(name)}${query}`;
}
