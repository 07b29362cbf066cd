/** The node types that documents of this server may have: what palettes and forms of editors are made of. */
import { z } from 'zod';
import { describeComponent, parameterSchema } from '../../components/catalogue.js';
import type { AnyComponent, Registry } from '../../components/component.js';
import type { JsonObject } from '../../json.js';
import { success } from '../envelope.js';
import { PAGE_BYTES } from '../http/input.js';
import { type RouteGroup, route } from '../http/route.js';
import { componentView, type DescribedComponent } from './catalogue-shapes.js';

export const catalogueRoutes: RouteGroup = {
  name: 'catalogue',
  description: 'What documents of this server may be made of.',
  routes: [
    route('GET /components', {
      summary: 'Describes every node type with its parameters and outputs',
      reserves: PAGE_BYTES,
      data: z.array(componentView.shape),
      handle: async (_, { registry }) => success(await entriesOf(registry)),
    }),
  ],
};

const described = new WeakMap<Registry, Promise<readonly JsonObject[]>>();

/** Made once, with the first request: writing the schemas takes half a second. */
function entriesOf(registry: Registry): Promise<readonly JsonObject[]> {
  const before = described.get(registry);
  if (before !== undefined) return before;
  const entries = describeAll(registry);
  described.set(registry, entries);
  return entries;
}

async function describeAll(registry: Registry): Promise<readonly JsonObject[]> {
  const { pipelineComponents } = await import('../../components/ingestion/index.js');
  const entries: JsonObject[] = [];
  // By each of its names a type is in the registry once.
  for (const component of new Set(registry.values())) entries.push(await entryOf(component, 'agent'));
  for (const component of pipelineComponents) entries.push(await entryOf(component, 'pipeline'));
  return entries;
}

async function entryOf(component: AnyComponent, canvas: DescribedComponent['canvas']): Promise<JsonObject> {
  // Other requests need not wait for all of it.
  await new Promise<void>((resolve) => void setImmediate(resolve));
  const { $schema: _, ...schema } = parameterSchema(component.params);
  return componentView.of({ about: describeComponent(component), schema, canvas });
}
