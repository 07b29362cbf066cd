/** The forms in which graphs are given and exported. */

import { readGexf, writeGexf } from './gexf-form.js';
import { checkGraph, type GraphDocument, type RawGraph, type ReadGraph } from './graph-document.js';
import type { GraphForm } from './graph-forms.js';
import { readGraphml, writeGraphml } from './graphml-form.js';
import { readJsonForm, writeJsonForm } from './json-form.js';

interface Form {
  readonly read: (text: string) => RawGraph;
  readonly write: (graph: GraphDocument) => string;
}

const FORMS: Readonly<Record<GraphForm, Form>> = {
  json: { read: readJsonForm, write: writeJsonForm },
  graphml: { read: readGraphml, write: writeGraphml },
  gexf: { read: readGexf, write: writeGexf },
};

/** Reads and checks a graph. @throws EngineError BAD_REQUEST with the place of each problem */
export function readGraph(form: GraphForm, text: string): ReadGraph {
  return checkGraph(FORMS[form].read(text));
}

/** Writes a graph; what it gives reads as the same graph. */
export function writeGraph(form: GraphForm, graph: GraphDocument): string {
  return FORMS[form].write(graph);
}
