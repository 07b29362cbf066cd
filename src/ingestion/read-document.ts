/** The first steps of every ingestion: the file is found, told apart, read, and cleaned. */
import { fileKind } from '../documents/reading/file-kind.js';
import { EngineError } from '../errors.js';
import type { JsonObject } from '../json.js';
import { knowledgeJob } from '../knowledge/base/jobs.js';
import { type DetectedFile, detectFile } from '../knowledge/base/parse-document.js';
import type { DocumentText } from '../knowledge/base/ports.js';
import { isPartial, type ReadingOptions } from '../knowledge/base/reading-options.js';
import type { StoredFile } from '../records/files.js';
import { describeMedia, type MediaQuestion, mediaKind } from './describe-media.js';
import type { IngestionWork, StepPlace } from './work.js';

/** How a document is read. */
export interface ReadingPlan {
  /** What of it; a part of it is stored as the text of this document alone. @default all */
  readonly part?: ReadingOptions | undefined;
  /** Whether a model sees the layout of its pages, where there is one. @default true */
  readonly hasLayout?: boolean | undefined;
  /** What a model is asked about a picture, a sound or a film. @default what is in it */
  readonly media?: MediaQuestion | undefined;
}

/** The text of a document, in the store. */
export interface FoundText extends JsonObject {
  /** Empty for a document without a file. */
  readonly textId: string;
  /** Whether it was there already, of the same bytes. */
  readonly isRead: boolean;
}

/** What a file is. */
export interface Detected extends JsonObject {
  readonly kind: DetectedFile['kind'] | 'audio' | 'video';
  readonly form: DetectedFile['form'];
}

/** Finds the file of a document, and whether its text is there. @throws EngineError INGEST_FAILED when the file is gone */
export function findText(work: IngestionWork, place: StepPlace, { part = {} }: ReadingPlan): Promise<FoundText> {
  const { parts, tenant, document } = work.options;
  return work.once(
    place,
    () => '',
    async () => {
      if (document.fileId === null) return { textId: '', isRead: true };
      if ((await parts.files.open(tenant, document.fileId)) === undefined) throw fileGone(document.name);
      if (isPartial(part)) return { textId: parts.texts.ownIdOf(document.id), isRead: false };
      const textId = parts.texts.idOf(document);
      return { textId, isRead: await parts.texts.has(tenant, textId) };
    },
  );
}

/** Tells what a file is. @throws EngineError FILE_UNREADABLE for what cannot be read here */
export function detect(work: IngestionWork, place: StepPlace, { media }: ReadingPlan): Promise<Detected> {
  return work.once(
    place,
    ({ kind }) => `format: ${kind}`,
    async () => {
      const file = await fileOf(work);
      const seen = mediaKind(file);
      const { chat, tenant } = work.options;
      // Without a model that sees it, it is refused as any other file that cannot be read.
      const needs = seen === 'image' ? 'images' : undefined;
      if (seen !== undefined && chat?.(tenant, media?.llmId ?? '', needs) !== undefined)
        return { kind: seen, form: 'text' };
      const { kind, form } = detectFile(file);
      return { kind, form };
    },
  );
}

/** Reads a file and stores what its parser gives, until it is cleaned. */
export function parse(
  work: IngestionWork,
  place: StepPlace,
  { kind, form }: Detected,
  { plan, signal }: { readonly plan: ReadingPlan; readonly signal: AbortSignal },
): Promise<{ characters: number; note: string }> {
  const { parts, tenant, document } = work.options;
  return work.once(
    place,
    ({ characters, note }) => `read ${characters} characters${note === '' ? '' : `; ${note}`}`,
    async () => {
      const file = await fileOf(work);
      const { note = '', ...parsed } = await parsedOf(file, { kind, form });
      await parts.texts.save(tenant, rawId(document.id), parsed, parts.now());
      return { characters: parsed.text.length, note };
    },
  );

  async function parsedOf(file: StoredFile, detected: Detected): Promise<DocumentText & { readonly note?: string }> {
    const { chat, layout } = work.options;
    const job = { name: document.name, threads: work.options.threads, signal };
    if (detected.kind === 'audio' || detected.kind === 'video' || detected.kind === 'image') {
      return { text: await describeMedia(file, { chat, tenant, question: plan.media, signal }) };
    }
    const found = await knowledgeJob('parse', { file, detected: { kind: detected.kind, form: detected.form } }, job);
    const isSeen = layout !== undefined && plan.hasLayout !== false && fileKind(file) === 'pdf';
    return isSeen ? layout({ file, text: found, signal, threads: job.threads }) : found;
  }
}

/** Makes the text that is cut, stored and cited of what the parser gave. */
export async function clean(
  work: IngestionWork,
  place: StepPlace,
  { textId, form }: { readonly textId: string; readonly form: Detected['form'] },
  { plan, signal }: { readonly plan: ReadingPlan; readonly signal: AbortSignal },
): Promise<void> {
  const { parts, tenant, document, threads } = work.options;
  const message = ({ isCut }: { readonly isCut: boolean }) =>
    isCut ? 'the text is too long; its beginning was taken' : '';
  await work.once(place, message, async () => {
    const parsed = await parts.texts.read(tenant, rawId(document.id));
    const given = { document: parsed, form, part: plan.part ?? {} };
    const cleaned = await knowledgeJob('clean', given, { name: document.name, threads, signal });
    await parts.texts.save(tenant, textId, cleaned, parts.now());
    return { characters: cleaned.text.length, isCut: cleaned.isCut === true };
  });
  await parts.texts.delete(tenant, rawId(document.id));
}

async function fileOf(work: IngestionWork): Promise<StoredFile> {
  const { parts, tenant, document } = work.options;
  const { fileId, name, mimeType } = document;
  const file = fileId === null ? undefined : await parts.files.find(tenant, fileId);
  if (file === undefined) throw fileGone(name);
  return { id: file.id, name, mimeType, bytes: file.bytes };
}

/** Id of what a parser read, until it is cleaned. */
function rawId(documentId: string): string {
  return `raw-${documentId}`;
}

function fileGone(name: string): EngineError {
  const why = 'its file is not stored any more; upload it again';
  return new EngineError('INGEST_FAILED', `The document "${name}" cannot be made searchable: ${why}.`);
}
