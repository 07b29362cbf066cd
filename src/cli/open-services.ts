/** What the runs of this process may use, made from its environment. */
import { readFile } from 'node:fs/promises';
import type { Services } from '../components/services.js';
import { rememberSpeech } from '../components/speaking/remember-speech.js';
import { EngineError } from '../errors.js';
import { type ModelsConfiguration, modelsFromEnvironment } from '../models/configuration.js';
import { createModels, type ModelsOptions } from '../models/router.js';
import { createEgressClient } from '../tools/http/egress-client.js';

/** A script of the built-in model. */
export type Script = NonNullable<ModelsConfiguration['script']>;

export interface ServicesOptions extends Pick<ModelsOptions, 'onScriptedCall'> {
  /** What the built-in model answers when the environment does not say. */
  readonly script?: Script | undefined;
}

/** Services, and whether the environment brought a script for the built-in model. */
export interface OpenServices extends Services {
  readonly hasScript: boolean;
}

/**
 * Makes the models and the HTTP client; whoever calls this closes the models.
 *
 * @throws EngineError CONFIG_INVALID.
 */
export async function openServices(
  env: Readonly<Record<string, string | undefined>>,
  options: ServicesOptions = {},
): Promise<OpenServices> {
  const { script, onScriptedCall } = options;
  const http = createEgressClient({ allowPrivateNetwork: readFlag(env, 'RUNNEL_ALLOW_PRIVATE_NETWORK') });
  const configuration = await modelsFromEnvironment(env, (path) => readFile(path, 'utf8'));
  const created = createModels({ ...configuration, script: configuration.script ?? script }, { onScriptedCall });
  const ttlSeconds = readSeconds(env, 'RAGFLOW_TTS_CACHE_TTL_SECONDS');
  const models = rememberSpeech(created, ttlSeconds === undefined ? {} : { ttlSeconds });
  return { models, http, hasScript: configuration.script !== undefined };
}

function readFlag(env: Readonly<Record<string, string | undefined>>, name: string): boolean {
  const text = env[name]?.trim().toLowerCase() ?? '';
  if (text === 'true' || text === '1') return true;
  if (text === '' || text === 'false' || text === '0') return false;
  throw new EngineError('CONFIG_INVALID', `${name} must be true or false; received ${JSON.stringify(env[name])}.`);
}

function readSeconds(env: Readonly<Record<string, string | undefined>>, name: string): number | undefined {
  const text = env[name]?.trim() ?? '';
  if (text === '') return undefined;
  if (/^-?\d+$/.test(text)) return Number(text);
  throw new EngineError(
    'CONFIG_INVALID',
    `${name} must be a whole number of seconds; received ${JSON.stringify(text)}.`,
  );
}
