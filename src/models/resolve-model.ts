import { EngineError } from '../errors.js';
import type { ModelKind, ModelsConfiguration, ProviderSettings } from './configuration.js';

/** The name of the built-in model. */
const SCRIPTED = 'scripted';

/** A model and its provider; without a provider it is the built-in scripted one. */
export interface ResolvedModel {
  /** The provider's own name of the model. */
  readonly name: string;
  readonly provider: ProviderSettings | undefined;
}

/**
 * Finds the provider of an `llm_id`: `model`, `model@Factory` or `model@instance@Factory`; empty means the default of its kind.
 *
 * 1. `scripted` is always the built-in model; without any provider every name of a chat model is.
 * 2. A name listed under a factory's `models`, as a whole, belongs there.
 * 3. A known `instance@Factory`, else a known `Factory` (both in any case), gets what stands before it.
 * 4. Everything else goes to the default provider, with what stands before the last `@`. That is the one of `OPENAI_BASE_URL`,
 *    else that of the default model of this kind, else the only one.
 *
 * @throws EngineError `MODEL_UNKNOWN`.
 */
export function resolveModel(configuration: ModelsConfiguration, kind: ModelKind, modelId: string): ResolvedModel {
  const id = modelId.trim() || (configuration.defaults[kind] ?? '');
  if (kind === 'chat' && (id === SCRIPTED || !hasProviders(configuration))) {
    return { name: id || SCRIPTED, provider: undefined };
  }
  if (id === '') throw unnamed(configuration, kind);
  const found = locate(configuration, id);
  if (found !== undefined) return found;
  const provider = defaultProviderFor(configuration, kind);
  if (provider === undefined) throw unknown(configuration, kind, `Nothing is configured for ${JSON.stringify(id)}`);
  return { name: splitLast(id)[0], provider };
}

/** Whether any server is configured. */
export function hasProviders(configuration: ModelsConfiguration): boolean {
  return configuration.defaultProvider !== undefined || configuration.providers.length > 0;
}

/** The provider for names without a factory. */
export function defaultProviderFor(configuration: ModelsConfiguration, kind: ModelKind): ProviderSettings | undefined {
  const { defaultProvider, defaults, providers } = configuration;
  if (defaultProvider !== undefined) return defaultProvider;
  const byDefault = locate(configuration, defaults[kind] ?? '')?.provider;
  return byDefault ?? (providers.length === 1 ? providers[0] : undefined);
}

/** Rules 2 and 3. */
function locate({ providers }: ModelsConfiguration, id: string): ResolvedModel | undefined {
  const listing = providers.find((provider) => provider.models.includes(id));
  if (listing !== undefined) return { name: id, provider: listing };
  const named = (name: string): ProviderSettings | undefined =>
    name === '' ? undefined : providers.find((provider) => provider.name?.toLowerCase() === name.toLowerCase());
  const [rest, factory] = splitLast(id);
  const [model, instance] = splitLast(rest);
  if (model === '') return undefined;
  const ofInstance = instance === '' ? undefined : named(`${instance}@${factory}`);
  if (ofInstance !== undefined) return { name: model, provider: ofInstance };
  const provider = named(factory);
  if (provider === undefined) return undefined;
  return { name: provider.models.includes(rest) ? rest : model, provider };
}

/** What stands before and after the last `@`; without one, everything and nothing. */
function splitLast(text: string): readonly [before: string, after: string] {
  const at = text.lastIndexOf('@');
  return at <= 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function unnamed({ defaultProvider }: ModelsConfiguration, kind: ModelKind): EngineError {
  const server = defaultProvider === undefined ? 'A server is configured' : 'OPENAI_BASE_URL names a server';
  return new EngineError(
    'MODEL_UNKNOWN',
    `${server}, but no model for ${kind}. Set RUNNEL_MODELS to a JSON file that names one, such as {"defaults":{"${kind}":"${EXAMPLES[kind] ?? 'model-name'}"}}.`,
  );
}

/** Names of models, as examples. */
const EXAMPLES: Readonly<Partial<Record<ModelKind, string>>> = {
  chat: 'gpt-4o-mini',
  embedding: 'text-embedding-3-small',
};

function unknown(configuration: ModelsConfiguration, kind: ModelKind, what: string): EngineError {
  const names = configuration.providers.map((provider) => provider.name).join(', ') || 'none';
  return new EngineError(
    'MODEL_UNKNOWN',
    `${what} (${kind}). Configured factories: ${names}. Set OPENAI_BASE_URL, or add it to the file of RUNNEL_MODELS.`,
  );
}
