import type { Files } from '../tool-services.js';
import { artifactEnding } from './artifact-rules.js';
import type { CodeArtifact } from './code-runner.js';
import type { LinkedArtifact } from './output/attachment-text.js';

/** Where the server gives such files back; see `src/transport/files`. */
const PATH = '/api/v1/documents/artifact';

/** Keeps the files of a script and says where they can be fetched; without a file store nowhere. */
export async function keepArtifacts(
  artifacts: readonly CodeArtifact[],
  files: Files | undefined,
  session: string | undefined,
): Promise<readonly LinkedArtifact[]> {
  const kept: LinkedArtifact[] = [];
  for (const file of artifacts) {
    const url = files === undefined ? '' : urlOf(await files.save(file), file.name, session);
    kept.push({ file, url });
  }
  return kept;
}

/** The object is the id with the ending of the name, by which its type is known again. */
function urlOf(id: string, name: string, session: string | undefined): string {
  const query = session === undefined || session === '' ? '' : `?session_id=${encodeURIComponent(session)}`;
  return `${PATH}/${encodeURIComponent(id)}.${artifactEnding(name)}${query}`;
}
