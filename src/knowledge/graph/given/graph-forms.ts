/** The names of the forms in which graphs are given and exported. */

/** JSON, and two forms of XML that programs for graphs read. */
export const GRAPH_FORMS = ['json', 'graphml', 'gexf'] as const;

/** One of {@link GRAPH_FORMS}. */
export type GraphForm = (typeof GRAPH_FORMS)[number];

/** Bytes of a graph as text, in UTF-8. */
export const MAX_GRAPH_BYTES = 16 * 1_048_576;

/** The type of each form. */
export const FORM_TYPES: Readonly<Record<GraphForm, string>> = {
  json: 'application/json',
  graphml: 'application/graphml+xml',
  gexf: 'application/gexf+xml',
};

/** The form that a type of content tells; of XML of no other kind the first element does. Undefined where neither does. */
export function formOfType(type: string, beginning: string): GraphForm | undefined {
  const known = GRAPH_FORMS.find((form) => FORM_TYPES[form] === type);
  if (known !== undefined) return known;
  if (type !== 'application/xml' && type !== 'text/xml') return undefined;
  const root = /<(?:[\w.-]+:)?(graphml|gexf)[\s>/]/.exec(beginning)?.[1];
  return root === undefined ? undefined : (root as GraphForm);
}
