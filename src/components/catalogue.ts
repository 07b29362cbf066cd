/** Descriptions of components, for the command line, the documentation and the editor. */
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { requireList, requireObject } from '../operators/invalid-option.js';
import type { AnyComponent } from './component.js';

/** An output of a component. */
export interface OutputDescription {
  readonly name: string;
  /** In a few words: `string`, `array of number`, `"a" or "b"`. */
  readonly type: string;
  readonly description: string;
}

/** A parameter of a component. */
export interface ParameterDescription extends OutputDescription {
  /** Absent when there is none. */
  readonly default?: Json;
}

/** A component, without its code. */
export interface ComponentDescription {
  readonly type: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  /** Where palettes list it. */
  readonly group: string;
  readonly hasBody: boolean;
  /** Type of the node that a new body begins with; absent when any node will do. */
  readonly bodyStart?: string;
  /** Its parameters name nodes that may run next. */
  readonly choosesTargets: boolean;
  /** What it says is the answer that the user reads. */
  readonly speaks: boolean;
  /** It may wait for an answer of the user. */
  readonly asks: boolean;
  /** It can be told something while it works, when it has tools. */
  readonly hears: boolean;
  /** A document or a body starts with it. */
  readonly isEntry: boolean;
  readonly parameters: readonly ParameterDescription[];
  readonly outputs: readonly OutputDescription[];
}

/** Describes a component by what it declares. */
export function describeComponent(component: AnyComponent): ComponentDescription {
  requireObject('describeComponent', 'component', component?.outputs, 'a component, with "outputs"');
  const { type, aliases = [], summary, group = 'other', params, outputs, bodyStart } = component;
  const { isContainer = false, targets, speaks = false, asks = false, hears = false, isEntry = false } = component;
  return {
    type,
    aliases,
    summary,
    group,
    hasBody: isContainer,
    ...(bodyStart === undefined ? {} : { bodyStart }),
    choosesTargets: targets !== undefined,
    speaks,
    asks,
    hears,
    isEntry,
    parameters: describeParameters(params),
    outputs: Object.entries(outputs).map(([name, port]) => ({ name, ...port })),
  };
}

/** A description as plain text for a terminal. */
export function formatComponent(description: ComponentDescription): string {
  requireList('formatComponent', 'description', description?.parameters, 'what describeComponent(…) gives');
  const { type, aliases, summary, parameters, outputs } = description;
  const also = aliases.length === 0 ? '' : ` (also ${aliases.join(', ')})`;
  const fallback = (value: Json | undefined) => (value === undefined ? '' : `, default ${JSON.stringify(value)}`);
  return [
    `${type}${also}\n${summary}\n`,
    section(
      'Parameters',
      parameters.map((one) => ({ ...one, type: one.type + fallback(one.default) })),
    ),
    section('Outputs', outputs),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function section(title: string, rows: readonly OutputDescription[]): string {
  if (rows.length === 0) return '';
  const lines = rows.map(
    ({ name, type, description }) => `  ${name}: ${type}\n${description === '' ? '' : `      ${description}\n`}`,
  );
  return `${title}\n${lines.join('')}`;
}

/** The parameters of a component as a JSON Schema: what documents may write. Values that no schema can say are anything. */
export function parameterSchema(schema: z.ZodType): JsonObject {
  const described: unknown = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    cycles: 'ref',
    reused: 'inline',
  });
  return isJsonObject(described) ? described : {};
}

/** Describes the fields of a schema. */
export function describeParameters(schema: z.ZodType): readonly ParameterDescription[] {
  const { properties } = parameterSchema(schema);
  if (properties === undefined || !isJsonObject(properties)) return [];
  return Object.entries(properties).map(([name, value]) => {
    const property = isJsonObject(value) ? value : {};
    return {
      name,
      type: typeOf(property),
      ...(property.default === undefined ? {} : { default: property.default }),
      description: String(property.description ?? ''),
    };
  });
}

/** A JSON schema in a few words. */
function typeOf(schema: JsonObject): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return [...new Set(choices.filter(isJsonObject).map(typeOf))].join(' or ');
  if (schema.type === 'array' && schema.items !== undefined && isJsonObject(schema.items)) {
    return `array of ${typeOf(schema.items)}`;
  }
  if (Array.isArray(schema.type)) return schema.type.join(' or ');
  return typeof schema.type === 'string' ? schema.type : 'any';
}

const INTRODUCTION = `# Components

Every node of a canvas is one of these. Parameters that are not listed are preserved and ignored. Outputs are read from other
nodes as \`{node@output}\`.
`;

/** The page as text, one section per component, by name. */
export function componentPage(all: readonly AnyComponent[]): string {
  const sorted = [...all].sort((a, b) => a.type.localeCompare(b.type, 'en'));
  return [INTRODUCTION, ...sorted.map((component) => pageSection(describeComponent(component)))].join('\n');
}

function pageSection({ type, aliases, summary, hasBody, parameters, outputs }: ComponentDescription): string {
  const also = aliases.length === 0 ? '' : ` Also known as ${aliases.map((name) => `\`${name}\``).join(', ')}.`;
  const body = hasBody ? ' It has a body: the nodes whose `parent_id` it is.' : '';
  return [
    `## ${type}\n`,
    `${summary}${also}${body}\n`,
    table(
      ['Parameter', 'Type', 'Default', 'Meaning'],
      parameters.map((one) => [
        `\`${one.name}\``,
        one.type.replace(/"[^"]*"/g, '`$&`'),
        one.default === undefined ? '' : `\`${JSON.stringify(one.default)}\``,
        one.description,
      ]),
    ),
    table(
      ['Output', 'Type', 'Meaning'],
      outputs.map((one) => [`\`${one.name}\``, one.type, one.description]),
    ),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(' | ')} |`;
  return `${[line(titles), `|${'---|'.repeat(titles.length)}`, ...rows.map(line)].join('\n')}\n`;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s*\n\s*/g, ' ');
}
