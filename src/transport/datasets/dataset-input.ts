/** What clients send of datasets. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import type { Models } from '../../models/router.js';
import { CHUNK_METHODS, type ChunkMethod } from '../../records/knowledge.js';
import {
  dictionaryField,
  flagField,
  idField,
  idsField,
  listField,
  objectField,
  oneOf,
  textField,
  wholeField,
} from '../ragflow/fields.js';
import { parserConfigField } from './parser-config.js';

/** RAGFlow's names, in its order; the last is one that this server does not have. */
const METHODS = [...CHUNK_METHODS, 'resume'] as const;

const AVATAR_TYPES = ['image/jpeg', 'image/png'];

const avatarField = textField().superRefine((avatar, issues) => {
  const message = avatarProblem(avatar);
  if (message !== undefined) issues.addIssue({ code: 'custom', message });
});

const embeddingModelField = textField({ most: 255, isTrimmed: true }).superRefine((id, issues) => {
  const message = modelProblem(id);
  if (message !== undefined) issues.addIssue({ code: 'custom', message });
});

const metadataField = objectField({
  key: textField({ least: 1, most: 255, isTrimmed: true }),
  type: oneOf(['string', 'list', 'time', 'number']),
  description: textField().nullish(),
  enum: listField(textField()).nullish(),
});

/** Which metadata documents are to have. */
export const metadataConfigBody = objectField({
  metadata: listField(metadataField).default([]),
  built_in_metadata: listField(metadataField).default([]),
});

const shape = {
  name: textField({ least: 1, most: 128, isTrimmed: true }),
  avatar: avatarField.nullish(),
  description: textField().nullish(),
  embedding_model: embeddingModelField.nullish(),
  permission: oneOf(['me', 'team']).optional(),
  parse_type: wholeField(0, 64).nullish(),
  pipeline_id: textField({ most: 64 }).nullish(),
  chunk_method: oneOf(METHODS).optional(),
  parser_config: z.preprocess(emptyToNull, parserConfigField.nullish()),
  auto_metadata_config: metadataConfigBody.nullish(),
  language: textField({ most: 32 }).nullish(),
  ext: dictionaryField().optional(),
};

/** A new dataset. */
export const newDatasetBody = objectField(shape);

/** What changes of a dataset. */
export const datasetChangeBody = objectField({
  ...shape,
  name: shape.name.optional(),
  pagerank: wholeField(0, 100).optional(),
  connectors: listField(dictionaryField()).optional(),
});

/** Datasets that are to be deleted. */
export const deletionBody = objectField({
  ids: idsField(idField()).nullish(),
  delete_all: flagField().default(false),
});

/** @throws EngineError NOT_FOUND for a method that this server does not have. */
export function methodOf(name: (typeof METHODS)[number] | undefined): ChunkMethod | undefined {
  const known = CHUNK_METHODS.find((method) => method === name);
  if (known !== undefined || name === undefined) return known;
  throw new EngineError('NOT_FOUND', `The chunk method '${name}' is not available on this server.`);
}

/**
 * Refuses an embedding model that is not configured.
 *
 * @throws EngineError MODEL_UNKNOWN in RAGFlow's words
 */
export function requireEmbeddingModel(models: Pick<Models, 'embedder' | 'describe'> | undefined, id: string): void {
  const [model = '', ...rest] = id.split('@');
  const provider = rest.at(-1) ?? '';
  const { providers = [], defaultProvider } = models?.describe() ?? {};
  const names = [rest.join('@'), provider].map((name) => name.toLowerCase());
  const known = providers.find(({ name }) => names.includes(name.toLowerCase()));
  // One without a name takes models of all names.
  const takesAll = defaultProvider !== undefined && !providers.some(({ name }) => name === defaultProvider.name);
  if (known === undefined && !takesAll) {
    throw new EngineError('MODEL_UNKNOWN', `Provider ${provider} not found for model ${id}.`);
  }
  const isListed =
    known === undefined || known.models.length === 0 || [model, id].some((one) => known.models.includes(one));
  if (!isListed) throw new EngineError('MODEL_UNKNOWN', `Model ${id} not found for model embedding`);
  models?.embedder(id);
}

function emptyToNull(value: unknown): unknown {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0 ? null : value;
}

function avatarProblem(avatar: string): string | undefined {
  if (avatar === '') return undefined;
  const comma = avatar.indexOf(',');
  if (comma === -1) return 'missing MIME prefix. Expected format: data:<mime>;base64,<data>';
  const prefix = avatar.slice(0, comma);
  if (!prefix.startsWith('data:')) return "invalid MIME prefix format. Must start with 'data:'";
  const type = prefix.slice('data:'.length).split(';', 1)[0] ?? '';
  return AVATAR_TYPES.includes(type) ? undefined : "Unsupported MIME type. Allowed: ['image/jpeg', 'image/png']";
}

function modelProblem(id: string): string | undefined {
  const at = id.indexOf('@');
  if (at === -1) return 'embedding model identifier must follow <model_name>@<provider> format';
  const [model, provider] = [id.slice(0, at), id.slice(at + 1)];
  if (model === '' || provider === '') return 'both model_name and provider must be non-empty strings';
  const isBlank = model.trim() === '' || provider.trim() === '';
  return isBlank ? 'Model name and provider cannot be whitespace-only strings' : undefined;
}
