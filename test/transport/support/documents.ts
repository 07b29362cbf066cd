import type { JsonObject } from '../../../src/json.js';

type Node = [type: string, downstream: string[], params?: JsonObject, container?: string];

/** A version 1 document from nodes: id to type, successors, parameters and the container it lies in. */
export function documentOf(nodes: Readonly<Record<string, Node>>): JsonObject {
  const components = Object.fromEntries(
    Object.entries(nodes).map(([id, [component_name, downstream, params = {}, container]]) => [
      id,
      {
        obj: { component_name, params },
        downstream,
        upstream: [],
        ...(container === undefined ? {} : { parent_id: container }),
      },
    ]),
  );
  return { components, graph: { nodes: [], edges: [] }, globals: { 'sys.query': '' } };
}

/** Says back what it was told. */
export const ECHO = documentOf({
  begin: ['Begin', ['Message:A'], { prologue: 'Welcome.' }],
  'Message:A': ['Message', [], { content: ['you said {sys.query}'] }],
});

/** Asks for a city, then names it. */
export const FORM = documentOf({
  begin: ['Begin', ['UserFillUp:B']],
  'UserFillUp:B': [
    'UserFillUp',
    ['Message:C'],
    {
      enable_tips: true,
      tips: 'Where to?',
      inputs: { city: { name: 'City', type: 'line', optional: false, options: [] } },
    },
  ],
  'Message:C': ['Message', [], { content: ['to {UserFillUp:B@city}'] }],
});

/** Does what a test says. */
export const PROBE = documentOf({ begin: ['Begin', ['Probe:P']], 'Probe:P': ['Probe', []] });

/** Asks a model. */
export const MODEL = documentOf({
  begin: ['Begin', ['LLM:M']],
  'LLM:M': [
    'LLM',
    ['Message:A'],
    { llm_id: 'm@Fake', sys_prompt: 'Be brief.', prompts: [{ role: 'user', content: '{sys.query}' }] },
  ],
  'Message:A': ['Message', [], { content: ['{LLM:M@content}'] }],
});
