import { z } from 'zod';
import { parseReference } from '../dsl/reference.js';
import { renderValue } from '../dsl/render-value.js';
import { foundValue } from '../dsl/resolve.js';
import { EngineError } from '../errors.js';
import type { Activation } from '../graph/node.js';
import { settled } from '../graph/node-events.js';
import { nodeParams, optionalText, templateEngine } from './base-params.js';
import { defineComponent } from './component.js';
import { isTruthy } from './values/comparison.js';
import { literally } from './values/literally.js';
import { afterWarnings, createTextReader, nameReference, outputOf, referencedOutputs } from './values/text-reader.js';

const stringTransformParams = nodeParams({
  method: z.enum(['split', 'merge']).default('split').describe('What is done: "split" or "merge"; default "split".'),
  split_ref: optionalText.describe('Reference to the text to split.'),
  script: optionalText.describe('The text to merge values into; a Jinja template when it holds {%…%} or {{…}}.'),
  template_engine: templateEngine.describe(
    'Language of `script`: "jinja" when it holds {%…%} or {{…}}, or "handlebars" always; default "jinja".',
  ),
  delimiters: z
    .array(z.string())
    .min(1, 'at least one delimiter is needed')
    .default([','])
    .describe(
      'Split: where to cut; an empty one stands between all characters. Merge: the first one joins lists, an empty one ' +
        'leaves them JSON.',
    ),
});

/** Parameters of {@link stringTransform}. */
export type StringTransformParams = z.output<typeof stringTransformParams>;

/** Cuts a text at delimiters into a list, or merges values into a text. Errors: `NODE_FAILED` for splitting what is no text. */
export const stringTransform = defineComponent<StringTransformParams>({
  type: 'StringTransform',
  group: 'data',
  summary: 'Splits a text into a list, or merges values into a text.',
  thoughts: 'Cutting and joining text.',
  params: stringTransformParams,
  outputs: { result: { type: 'any', description: 'Split: the list of pieces. Merge: the text.' } },
  needs: ({ method, script, split_ref: text }) => (method === 'merge' ? referencedOutputs([script]) : outputOf(text)),
  create(params) {
    if (params.method === 'merge') return (activation) => merge(activation, params);
    const pieces = createSplitter(params.delimiters);
    return (activation) => settled({ result: pieces(textToSplit(activation, params.split_ref)) });
  },
});

function merge(activation: Activation, { script, delimiters, template_engine: engine }: StringTransformParams) {
  const [delimiter = ''] = delimiters;
  // As in RAGFlow, an empty delimiter is no delimiter.
  const options = delimiter === '' ? {} : { delimiter };
  const reader = createTextReader(activation, (value) => renderValue(value, options));
  const result = engine === 'handlebars' ? reader.render(script, engine) : reader.readTemplate(script);
  return afterWarnings(reader.warnings, settled({ result }));
}

function textToSplit(activation: Activation, reference: string): string {
  const { node } = activation;
  const lookup = activation.lookup(reference);
  if (lookup.status === 'unresolved') {
    const parsed = parseReference(reference);
    const problem = parsed === undefined ? 'is no reference' : `names nothing: there is no ${nameReference(parsed)}`;
    throw new EngineError('REFERENCE_UNRESOLVED', `The text to split: split_ref "${reference}" ${problem}.`, { node });
  }
  const value = foundValue(lookup);
  if (!isTruthy(value)) return '';
  if (typeof value === 'string') return value;
  const kind = Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`;
  throw new EngineError('NODE_FAILED', `Only a text can be split, but "${reference}" is ${kind}.`, { node });
}

/**
 * Makes a function that cuts a text at every delimiter; of several that begin at one place the first listed wins.
 * Empty pieces stay. An empty delimiter cuts between all characters.
 */
export function createSplitter(delimiters: readonly string[]): (text: string) => string[] {
  const [only] = delimiters;
  if (delimiters.length === 1 && only !== undefined && only !== '') return (text) => text.split(only);
  const literal = delimiters.filter((delimiter) => delimiter !== '').map(literally);
  const pattern = new RegExp(literal.join('|'), 'u');
  const cut = (text: string): string[] => (literal.length === 0 ? [text] : text.split(pattern));
  if (!delimiters.includes('')) return cut;
  return (text) => (text === '' ? [''] : cut(text).flatMap((piece) => [...piece]));
}
