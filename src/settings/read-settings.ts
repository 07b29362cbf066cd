/** Reads the environment by the table of settings, and lists the table for people. */
import { EngineError } from '../errors.js';
import { type ModelsConfiguration, readModels } from '../models/configuration.js';
import { didYouMean } from '../nearest-name.js';
import { invalidOption, requireObject } from '../operators/invalid-option.js';
import { isLoopbackName } from '../own-pages.js';
import type { Setting } from './setting.js';
import { SETTINGS, TITLES } from './table.js';

/** Environment variables; an empty value counts as unset. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A group of settings, such as `server`. */
export type SettingGroup = keyof typeof SETTINGS;

/** The values of all settings, by group. Times are milliseconds, sizes bytes, where a name does not say otherwise. */
export type Settings = {
  readonly [G in SettingGroup]: {
    readonly [K in keyof (typeof SETTINGS)[G]]: (typeof SETTINGS)[G][K] extends Setting<infer T> ? T : never;
  };
};

/** The settings of a server. */
export type ServerConfig = Settings['server'];

/** A setting for people. */
export type SettingDescription = Pick<Setting<unknown>, 'name' | 'shown' | 'meaning'>;

/**
 * Reads the settings of some groups.
 *
 * @throws EngineError CONFIG_INVALID with every problem at once, and the received value where it is no secret.
 */
export function readSettings<G extends SettingGroup>(env: Environment, ...groups: readonly G[]): Pick<Settings, G> {
  requireObject('readSettings', 'env', env, 'the environment, such as process.env');
  for (const group of groups) {
    if (typeof group !== 'string' || !Object.hasOwn(SETTINGS, group)) {
      throw invalidOption('readSettings', 'groups', `one of ${Object.keys(SETTINGS).join(', ')}`, group);
    }
  }
  const problems: string[] = [];
  const values = groups.map((group) => [group, readGroup(SETTINGS[group], env, problems)]);
  const settings = Object.fromEntries(values) as Pick<Settings, G>;
  if (problems.length === 0) problems.push(...contradictions(settings));
  if (problems.length > 0) throw new EngineError('CONFIG_INVALID', `${problems.join('.\n')}.`);
  return settings;
}

/** The settings of a server, as {@link readSettings}. */
export function readConfig(env: Environment): ServerConfig {
  requireObject('readConfig', 'env', env, 'the environment, such as process.env');
  return readSettings(env, 'server').server;
}

/**
 * Reads the settings of models, and the file that `RUNNEL_MODELS` names; `readFile` gives its text.
 *
 * Errors: `CONFIG_INVALID`, with every problem and its path; never with a key.
 */
export async function modelsFromEnvironment(
  env: Environment,
  readFile: (path: string) => Promise<string>,
): Promise<ModelsConfiguration> {
  if (typeof env !== 'object' || env === null) {
    throw new EngineError(
      'OPTION_INVALID',
      'modelsFromEnvironment: "env" must be an object of variables, such as process.env.',
    );
  }
  return readModels(readSettings(env, 'models').models, { readFile, env });
}

/** The settings of a group, for people. */
export function describeSettings(group: SettingGroup): readonly SettingDescription[] {
  return Object.values(SETTINGS[group]);
}

/** Every group with its title and its settings, for people. */
export function describeGroups(): readonly (readonly [title: string, settings: readonly SettingDescription[]])[] {
  return (Object.keys(SETTINGS) as SettingGroup[]).map((group) => [TITLES[group], describeSettings(group)]);
}

/** A sentence for each variable that is named like a setting of Runnel and is none, which is a mistake that changes nothing. */
export function unknownSettings(env: Environment): readonly string[] {
  const known = describeGroups().flatMap(([, settings]) => settings.map(({ name }) => name));
  return Object.keys(env)
    .filter((name) => name.startsWith('RUNNEL_') && !known.includes(name))
    .map((name) => `${name} is no setting and is ignored.${didYouMean(name, known)}`);
}

/** Settings as lines of a help text: name, default and, on a line of its own, the meaning. */
export function formatSettings(settings: readonly SettingDescription[]): string {
  return settings.map(({ name, shown, meaning }) => `  ${name} (${shown})\n      ${meaning}`).join('\n');
}

function readGroup(group: Readonly<Record<string, Setting<unknown>>>, env: Environment, problems: string[]): object {
  const values = Object.entries(group).map(([key, { name, schema, isSecret }]) => {
    const raw = received(name, env);
    const result = schema.safeParse(raw);
    if (result.success) return [key, result.data];
    const shown = isSecret === true ? '' : `; received ${JSON.stringify(raw)}`;
    problems.push(`${name} ${result.error.issues.map(({ message }) => message).join(', ')}${shown}`);
    return [key, undefined];
  });
  return Object.fromEntries(values);
}

/** The text of a setting, or the texts of a family; empty ones count as unset. */
function received(name: string, env: Environment): string | undefined | Readonly<Record<string, string>> {
  const start = name.indexOf('<');
  if (start < 0) return env[name]?.trim() || undefined;
  const prefix = name.slice(0, start);
  const found = Object.keys(env).flatMap((key) => {
    const text = key.startsWith(prefix) ? env[key]?.trim() : undefined;
    return text ? [[key.slice(prefix.length), text] as const] : [];
  });
  return Object.fromEntries(found);
}

/** What is valid alone but not together. */
function contradictions({ server, nodes }: Partial<Settings>): string[] {
  const problems = server === undefined ? [] : serverContradictions(server);
  if (nodes?.ragflowBaseUrl !== undefined && nodes.ragflowApiKey === undefined) {
    problems.push('RAGFLOW_BASE_URL is set, but RAGFLOW_API_KEY is not');
  }
  return problems;
}

function serverContradictions({ host, apiKeys, corsOrigins, adminKey, ...others }: ServerConfig): string[] {
  const problems: string[] = [];
  if (apiKeys.some(({ key }) => key === adminKey)) {
    problems.push('RUNNEL_ADMIN_KEY is one of RUNNEL_API_KEYS; give the administrator a key of its own');
  }
  if (!others.runtimes.includes(others.defaultRuntime)) {
    const names = others.runtimes.join(', ');
    problems.push(
      `RAGFLOW_CANVAS_DEFAULT_RUNTIME must be one of ${names}; received ${JSON.stringify(others.defaultRuntime)}`,
    );
  }
  if (apiKeys.length > 0) return problems;
  if (!isLoopbackName(host)) {
    problems.push(
      `RUNNEL_HOST is ${JSON.stringify(host)}, which others can reach, and there are no keys; set RUNNEL_API_KEYS, or listen on localhost`,
    );
  }
  if (corsOrigins.includes('*')) {
    problems.push('RUNNEL_CORS_ORIGINS is "*" and there are no keys; set RUNNEL_API_KEYS, or name the origins');
  }
  return problems;
}
