/** Node types as the API gives them. */
import { z } from 'zod';
import type { ComponentDescription } from '../../components/catalogue.js';
import type { JsonObject } from '../../json.js';
import { anyObject, defineView, string } from '../shapes.js';

const outputShape = z.looseObject({ name: string, type: string, description: string });

/** A node type with the schema of its parameters. */
export interface DescribedComponent {
  readonly about: ComponentDescription;
  readonly schema: JsonObject;
  readonly canvas: 'agent' | 'pipeline';
}

export const componentView = defineView<DescribedComponent>()({
  name: [string.describe('The `component_name` of documents.'), ({ about }) => about.type],
  aliases: [z.array(string), ({ about }) => about.aliases],
  canvas: [z.enum(['agent', 'pipeline']).describe('Canvases that answer, or pipelines that ingest.'), 'canvas'],
  group: [string.describe('Where palettes list it, such as `flow` or `tools`.'), ({ about }) => about.group],
  summary: [string.describe('One sentence.'), ({ about }) => about.summary],
  parameters: [anyObject.describe('A JSON Schema of `params`; keys that it does not name pass.'), 'schema'],
  outputs: [z.array(outputShape).describe('Those that every node of the type has.'), ({ about }) => about.outputs],
  has_body: [z.boolean().describe('Other nodes may name it as their `parent_id`.'), ({ about }) => about.hasBody],
  body_start: [
    string.nullable().describe('Type of the node that a new body begins with; null: any.'),
    ({ about }) => about.bodyStart ?? null,
  ],
  chooses_targets: [z.boolean().describe('Its parameters name nodes to run.'), ({ about }) => about.choosesTargets],
  speaks: [z.boolean().describe('What it says is the answer.'), ({ about }) => about.speaks],
  asks: [z.boolean().describe('It may wait for the user.'), ({ about }) => about.asks],
  hears: [
    z.boolean().describe('It can be told something while it works, when it has tools.'),
    ({ about }) => about.hears,
  ],
  is_entry: [z.boolean().describe('A document or a body starts with it.'), ({ about }) => about.isEntry],
});

/** A node type as the API gives it. */
export type CatalogueEntry = z.output<typeof componentView.shape>;
