/** Variables of a canvas, which references name as `env.*`. */
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Document, DocumentComponent } from '../document.js';
import { omitKeys, ownList, ownText } from '../json-copy.js';
import { findReferences, parseReference, type Reference } from '../reference.js';
import { type Edit, mapComponents, refuse } from './edit.js';
import { mapFormTexts, mapTexts } from './map-texts.js';
import { MAX_NAME } from './new-ids.js';

/** What references can spell, in one word. */
const NAME = /^[A-Za-z0-9_]+$/;

/** Adds a variable; of `variable` its type and first value count. */
export function addVariable(document: Document, name: string, variable: JsonObject): Edit {
  const problem = problemOf(document, name);
  if (problem !== undefined) return problem;
  return { document: { ...document, variables: { ...document.variables, [name]: { ...variable, name } } }, ids: [] };
}

/** Gives a variable another type or value. */
export function changeVariable(document: Document, name: string, variable: JsonObject): Edit {
  if (!Object.hasOwn(document.variables, name)) return refuseVariable(name);
  return { document: { ...document, variables: { ...document.variables, [name]: variable } }, ids: [] };
}

/** Gives a variable another name, also in every reference to it, in the layout too. */
export function renameVariable(document: Document, name: string, next: string): Edit {
  const { variables, graph, globals } = document;
  if (!Object.hasOwn(variables, name)) return refuseVariable(name);
  if (name === next) return { document, ids: [] };
  const problem = problemOf(document, next);
  if (problem !== undefined) return problem;
  const rewrite = (text: string): string => withNewName(text, name, next);
  const components = mapComponents(document.components, (component): DocumentComponent => {
    const params = mapTexts(component.params, rewrite) as JsonObject;
    return params === component.params ? component : { ...component, params };
  });
  const nodes = ownList(graph, 'nodes').map((node) => (isJsonObject(node) ? mapFormTexts(node, rewrite) : node));
  const renamed = Object.entries(variables).map(([key, variable]): [string, Json] =>
    key === name ? [next, namedAs(variable, name, next)] : [key, variable],
  );
  const ids = Object.keys(components).filter((id) => components[id] !== document.components[id]);
  return {
    document: {
      ...document,
      components,
      variables: Object.fromEntries(renamed),
      ...(globals && { globals: withNewKey(globals, `env.${name}`, `env.${next}`) }),
      ...(graph !== undefined && Array.isArray(graph.nodes) && { graph: { ...graph, nodes } }),
    },
    ids,
  };
}

/** Deletes a variable. References to it stay, as their authors wrote them: {@link readersOfVariable} names them. */
export function removeVariable(document: Document, name: string): Edit {
  const { variables, globals } = document;
  if (!Object.hasOwn(variables, name)) return refuseVariable(name);
  return {
    document: {
      ...document,
      variables: omitKeys(variables, new Set([name])),
      ...(globals && { globals: omitKeys(globals, new Set([`env.${name}`])) }),
    },
    ids: [],
  };
}

/** Ids of the components that name a variable, to read it or to change it, in the order of the document. */
export function readersOfVariable({ components }: Pick<Document, 'components'>, name: string): readonly string[] {
  return Object.values(components).flatMap(({ id, params }) => {
    let doesName = false;
    mapTexts(params, (text) => {
      doesName ||= referencesOf(text).some((reference) => isOf(reference, name));
      return text;
    });
    return doesName ? [id] : [];
  });
}

function problemOf(document: Document, name: string): Extract<Edit, { refused: object }> | undefined {
  if (document.version === 2) return refuse('no-names', 'Version 2 of the DSL has no variables.');
  if (!NAME.test(name) || name.length > MAX_NAME)
    return refuse('name-invalid', `${JSON.stringify(name)} is no name: references can spell letters, digits and "_".`);
  if (Object.hasOwn(document.variables, name))
    return refuse('id-taken', `There is a variable ${JSON.stringify(name)} already.`);
  return undefined;
}

function refuseVariable(name: string): Extract<Edit, { refused: object }> {
  return refuse('variable-unknown', `There is no variable ${JSON.stringify(name)}.`);
}

function isOf(reference: Reference, name: string): boolean {
  if (reference.kind !== 'variable') return false;
  const key = reference.key.toLowerCase().startsWith('env.') ? reference.key.slice('env.'.length) : undefined;
  return key === name || key?.startsWith(`${name}.`) === true;
}

function referencesOf(text: string): readonly Reference[] {
  if (!/env\./i.test(text)) return [];
  const whole = text.includes('{') ? undefined : parseReference(text);
  return whole === undefined ? findReferences(text).map(({ reference }) => reference) : [whole];
}

/** A text whose references to a variable say its new name; a part behind it, such as a field, stays. */
function withNewName(text: string, name: string, next: string): string {
  if (!/env\./i.test(text)) return text;
  const rename = (written: string): string =>
    written.replace(/(env\.)(\w+)/i, (all, prefix, word) => (word === name ? `${prefix}${next}` : all));
  const whole = text.includes('{') ? undefined : parseReference(text);
  if (whole !== undefined) return isOf(whole, name) ? rename(text) : text;
  let result = '';
  let from = 0;
  for (const { reference, start, end, text: written } of findReferences(text)) {
    if (!isOf(reference, name)) continue;
    result += text.slice(from, start) + rename(written);
    from = end;
  }
  return from === 0 ? text : result + text.slice(from);
}

function namedAs(variable: Json, name: string, next: string): Json {
  return isJsonObject(variable) && ownText(variable, 'name') === name ? { ...variable, name: next } : variable;
}

function withNewKey(source: JsonObject, from: string, to: string): JsonObject {
  if (!Object.hasOwn(source, from)) return source;
  return Object.fromEntries(
    Object.entries(source).map(([key, value]): [string, Json] => [key === from ? to : key, value]),
  );
}
