/** The models that documents of this server may name; never a key or an address. */
import { type ModelKind, ROUTE_PREFIX } from '../../models/configuration.js';
import type { ModelsDescription, ProviderDescription } from '../../models/router.js';
import { success } from '../envelope.js';
import { type RouteGroup, route } from '../http/route.js';
import { type ListedModel, type ModelList, modelsShape } from './model-shapes.js';

export const modelRoutes: RouteGroup = {
  name: 'models',
  description: 'Models that documents may name.',
  routes: [
    route('GET /models', {
      summary: 'Lists the models that the configuration names, with their providers and kinds',
      data: modelsShape,
      handle: (_, { services }) => success(listModels(services.models.describe())),
    }),
  ],
};

const CHAT: readonly ModelKind[] = ['chat'];

/** What a configuration names: models of providers, defaults, routes and their targets, models that see; each once. */
export function listModels(described: ModelsDescription): ModelList {
  const { isScripted, defaults, providers, defaultProvider, routes = {}, visionModels = [] } = described;
  const all = defaultProvider && !providers.some(({ name }) => name === defaultProvider.name);
  const known = [...providers, ...(all ? [defaultProvider] : [])];
  const models = new Map<string, ListedModel>();
  const add = (id: string, provider: string, kinds: readonly ModelKind[]): void => {
    if (!models.has(id)) models.set(id, entryOf(id, provider, kinds, described));
  };
  for (const purpose of Object.keys(routes)) add(ROUTE_PREFIX + purpose, 'route', CHAT);
  for (const [index, { name, models: own, uses = CHAT }] of known.entries()) {
    // A name that an earlier provider lists is that one's; in full it is this one's.
    const isTaken = (id: string): boolean => known.slice(0, index).some((other) => other.models.includes(id));
    for (const id of own) add(isTaken(id) ? `${id}@${name}` : id, name, uses);
  }
  for (const [kind, id] of Object.entries(defaults))
    add(id, providerOf(id, known, defaultProvider), [kind as ModelKind]);
  for (const id of [...Object.values(routes).flat(), ...visionModels])
    add(id, providerOf(id, known, defaultProvider), CHAT);
  if (isScripted) add('scripted', 'scripted', CHAT);
  return {
    scripted: isScripted,
    models: [...models.values()],
    providers: known.map(({ name, uses = CHAT, hasKey }) => ({
      name,
      kinds: [...uses],
      has_key: hasKey,
      takes_any: name === defaultProvider?.name,
    })),
  };
}

function entryOf(id: string, provider: string, kinds: readonly ModelKind[], about: ModelsDescription): ListedModel {
  const { defaults, visionModels = [], contextLengths = {} } = about;
  const defaultFor = (Object.keys(defaults) as ModelKind[]).filter((kind) => defaults[kind] === id);
  const bare = id.slice(0, id.lastIndexOf('@') > 0 ? id.lastIndexOf('@') : id.length);
  const name = Object.hasOwn(contextLengths, id) ? id : bare;
  return {
    id,
    provider,
    // What is the default for one kind is a model of that kind.
    kinds: [...(defaultFor.length > 0 ? defaultFor : kinds)],
    default_for: defaultFor,
    vision: visionModels.includes(id) || visionModels.includes(bare),
    context_length: Object.hasOwn(contextLengths, name) ? (contextLengths[name] as number) : null,
  };
}

/** The provider that a full name ends with, else the one that unknown names go to. */
function providerOf(
  id: string,
  known: readonly ProviderDescription[],
  fallback: ProviderDescription | undefined,
): string {
  const listing = known.find(({ models }) => models.includes(id));
  const named = known.find(({ name }) => id.toLowerCase().endsWith(`@${name.toLowerCase()}`));
  return (listing ?? named ?? fallback)?.name ?? 'scripted';
}
