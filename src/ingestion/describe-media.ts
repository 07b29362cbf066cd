import { endingOf, fileKind, imageType } from '../documents/reading/file-kind.js';
import { MAX_IMAGE_BYTES, requireSize, unreadable } from '../documents/reading/limits.js';
import { EngineError } from '../errors.js';
import { collectAnswer } from '../models/collect-answer.js';
import type { ContentPart } from '../models/content-parts.js';
import { firstValue } from '../operators/from-abortable.js';
import type { StoredFile } from '../records/files.js';
import type { FindChat } from './work.js';

/** What a model is asked about a picture, a sound or a film. */
export interface MediaQuestion {
  /** Id of the model. @default one that sees pictures; sounds and films need an id */
  readonly llmId?: string | undefined;
  /** @default all text that is seen or heard, then what is shown */
  readonly prompt?: string | undefined;
}

/** What a model can be shown. */
export type MediaKind = 'image' | 'audio' | 'video';

const ENDINGS: Readonly<Record<Exclude<MediaKind, 'image'>, RegExp>> = {
  audio: /^(?:aac|aiff?|ape|au|da|flac|m4a|midi?|mp3|ogg|oggvorbis|opus|realaudio|vqf|wave?|wma)$/,
  video: /^(?:3gpp?|avi|flv|mkv|mov|mp4|mpe?g|webm|wmv)$/,
};

const PROMPTS: Readonly<Record<MediaKind, string>> = {
  image:
    'Write down all text in the picture, in its language and in reading order, tables as Markdown. Then describe in a short paragraph what the picture shows. Write nothing else.',
  audio: 'Write down what is said, word for word, in its language. Write nothing else.',
  video:
    'Write down what is said and what text is shown, in its language, then describe what happens. Write nothing else.',
};

/** Whether a file is for eyes and ears. */
export function mediaKind(file: StoredFile): MediaKind | undefined {
  if (fileKind(file) === 'image') return 'image';
  const [type = ''] = file.mimeType.toLowerCase().split('/');
  if (type === 'audio' || type === 'video') return type;
  const ending = endingOf(file.name);
  // Their first bytes may look like a text.
  return type === 'text' ? undefined : (['audio', 'video'] as const).find((one) => ENDINGS[one].test(ending));
}

/**
 * The text of a picture, a sound or a film, as a model tells it.
 *
 * @throws EngineError FILE_UNREADABLE for one that is too large, and for a model that cannot be asked or says nothing
 */
export async function describeMedia(
  file: StoredFile,
  {
    chat,
    tenant,
    question: { llmId = '', prompt } = {},
    signal,
  }: {
    readonly chat: FindChat | undefined;
    readonly tenant: string;
    readonly question?: MediaQuestion | undefined;
    readonly signal: AbortSignal;
  },
): Promise<string> {
  const { name, bytes } = file;
  const kind = mediaKind(file) ?? 'image';
  requireSize(name, 'it has', bytes.length, MAX_IMAGE_BYTES);
  const choice = chat?.(tenant, llmId, kind === 'image' ? 'images' : undefined);
  if (choice === undefined) throw unreadable(name, 'there is no model that could make a text of it.');
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  const mimeType = kind === 'image' ? imageType(file) : file.mimeType || `${kind}/${endingOf(name)}`;
  const part = { type: kind, data, mimeType } as ContentPart;
  const asked$ = choice.model.chat({
    model: choice.name,
    messages: [{ role: 'user', content: [{ type: 'text', text: prompt || PROMPTS[kind] }, part] }],
    sampling: { temperature: 0 },
  });
  try {
    const { text } = await firstValue(asked$.pipe(collectAnswer()), signal);
    if (text.trim() !== '') return text;
  } catch (error) {
    if (!EngineError.is(error) || !error.code.startsWith('MODEL_')) throw error;
    throw unreadable(name, `the model "${choice.name}" made no text of it: ${error.message}`, error);
  }
  throw unreadable(name, `the model "${choice.name}" found nothing to say about it.`);
}
