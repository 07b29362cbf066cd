/** Files that tools made, as others write them down. */
import type { JsonObject } from '../json.js';
import type { Artifact } from './tool-event.js';

/** An artifact as it stands in the output `_ARTIFACTS`. */
export function artifactRecord({ name, url, mimeType, bytes }: Artifact): JsonObject {
  return { name, url, mime_type: mimeType, size: bytes };
}

/** An artifact in Markdown: an image is shown, anything else is offered for download. */
export function artifactMarkdown({ name, url, mimeType }: Artifact): string {
  const label = name.replace(/[[\]\\]/g, '\\$&');
  return mimeType.startsWith('image/') ? `![${label}](${url})` : `[Download ${label}](${url})`;
}
