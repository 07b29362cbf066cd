import { describe, expect, it } from 'vitest';
import type { ModelKind, ModelsConfiguration } from '../../src/models/configuration.js';
import { resolveModel } from '../../src/models/resolve-model.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';

const acme = { Acme: { base_url: 'http://acme.test' } };
const two = { ...acme, Beta: { base_url: 'http://beta.test', models: ['b1', 'odd@name', 'x@y'] } };
const instances = { ...two, 'eu@Acme': { base_url: 'http://eu.acme.test' } };
const openai = { OPENAI_BASE_URL: 'http://openai.test' };

const configure = (file: unknown, env = {}): Promise<ModelsConfiguration> =>
  modelsFromEnvironment({ RUNNEL_MODELS: 'f', ...env }, async () => JSON.stringify(file));

/** `name -> host of the provider`, or the code of the error. */
async function resolved(file: unknown, env: object, kind: ModelKind, id: string): Promise<string> {
  const configuration = await configure(file, env);
  try {
    const { name, provider } = resolveModel(configuration, kind, id);
    return `${name} -> ${provider === undefined ? 'built-in' : new URL(provider.baseUrl).host}`;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe('resolveModel', () => {
  it.each<[id: string, file: unknown, env: object, expected: string]>([
    // nothing configured
    ['', {}, {}, 'scripted -> built-in'],
    ['gpt@OpenAI', {}, {}, 'gpt@OpenAI -> built-in'],
    ['scripted', {}, {}, 'scripted -> built-in'],
    // the built-in model beside servers
    ['scripted', { factories: acme }, openai, 'scripted -> built-in'],
    ['scripted@Acme', { factories: acme }, openai, 'scripted -> acme.test'],
    ['scripted@Other', { factories: acme }, openai, 'scripted -> openai.test'],
    ['', { factories: acme, defaults: { chat: 'scripted' } }, {}, 'scripted -> built-in'],
    // factories
    ['m@Acme', { factories: two }, openai, 'm -> acme.test'],
    ['m@acme', { factories: two }, openai, 'm -> acme.test'],
    [' m@Acme ', { factories: two }, openai, 'm -> acme.test'],
    ['m@Other', { factories: two }, openai, 'm -> openai.test'],
    ['m@inst@Other', { factories: two }, openai, 'm@inst -> openai.test'],
    ['m@Other', { factories: two }, {}, 'MODEL_UNKNOWN'],
    ['m@Other', { factories: acme }, {}, 'm -> acme.test'],
    ['m@Other', { factories: two, defaults: { chat: 'd@Beta' } }, {}, 'm -> beta.test'],
    // instances
    ['m@eu@Acme', { factories: instances }, {}, 'm -> eu.acme.test'],
    ['m@us@Acme', { factories: instances }, {}, 'm -> acme.test'],
    ['m@Acme', { factories: instances }, {}, 'm -> acme.test'],
    // names alone
    ['m', { factories: two }, openai, 'm -> openai.test'],
    ['b1', { factories: two }, openai, 'b1 -> beta.test'],
    ['odd@name', { factories: two }, openai, 'odd@name -> beta.test'],
    ['x@y@Beta', { factories: two }, openai, 'x@y -> beta.test'],
    ['m', { factories: acme }, {}, 'm -> acme.test'],
    ['m', { factories: two }, {}, 'MODEL_UNKNOWN'],
    // defaults
    ['', { factories: two, defaults: { chat: 'd@Beta' } }, openai, 'd -> beta.test'],
    ['', { factories: two, defaults: { chat: 'b1' } }, {}, 'b1 -> beta.test'],
    ['', { factories: acme }, {}, 'MODEL_UNKNOWN'],
    ['', {}, openai, 'MODEL_UNKNOWN'],
    // stray marks
    ['@Acme', { factories: acme }, {}, '@Acme -> acme.test'],
    ['m@', { factories: acme }, {}, 'm -> acme.test'],
  ])('chat %j with %j and %j: %s', async (id, file, env, expected) => {
    expect(await resolved(file, env, 'chat', id)).toBe(expected);
  });

  it.each<[ModelKind, string, unknown, object, string]>([
    ['embedding', 'e', {}, openai, 'e -> openai.test'],
    ['embedding', '', { factories: two, defaults: { embedding: 'e@Acme' } }, openai, 'e -> acme.test'],
    ['rerank', 'r', { factories: two, defaults: { chat: 'c@Acme', rerank: 'd@Beta' } }, {}, 'r -> beta.test'],
    ['tts', 'scripted', {}, {}, 'MODEL_UNKNOWN'],
    ['embedding', 'e', {}, {}, 'MODEL_UNKNOWN'],
    ['embedding', '', {}, {}, 'MODEL_UNKNOWN'],
  ])('%s %j with %j and %j: %s', async (kind, id, file, env, expected) => {
    expect(await resolved(file, env, kind, id)).toBe(expected);
  });

  it('says what is configured when it finds nothing', async () => {
    const configuration = await configure({ factories: two });
    expect(() => resolveModel(configuration, 'chat', 'm@Gone')).toThrow(
      '"m@Gone" (chat). Configured factories: Acme, Beta.',
    );
  });
});
