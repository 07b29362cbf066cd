/** Canvases that the studio is measured with. */
import type { JsonObject } from '../../src/json.js';

const component = (name: string, params: JsonObject, upstream: string[], downstream: string[]): JsonObject => ({
  obj: { component_name: name, params },
  upstream,
  downstream,
});

const documentOf = (components: JsonObject): JsonObject => ({
  components,
  globals: { 'sys.query': '' },
  history: [],
  path: [],
  retrieval: [],
});

const llm = (system: string): JsonObject => ({
  llm_id: 'scripted',
  sys_prompt: system,
  prompts: [{ role: 'user', content: '{sys.query}' }],
});

/** A chain, ten in a row of the drawing; every second node is a model that takes some 30 ms when `hasModels`. */
export function chainCanvas(nodes: number, { hasModels = false } = {}): JsonObject {
  const isModel = (at: number): boolean => hasModels && at % 2 === 1;
  const ids = Array.from({ length: nodes }, (_, at) =>
    at === 0 ? 'begin' : `${isModel(at) ? 'LLM' : 'Message'}:Step${at}`,
  );
  return documentOf(
    Object.fromEntries(
      ids.map((id, at) => {
        const [before, behind] = [ids.slice(Math.max(0, at - 1), at), ids.slice(at + 1, at + 2)];
        if (at === 0) return [id, component('Begin', {}, before, behind)];
        if (isModel(at)) return [id, component('LLM', llm('pace: node'), before, behind)];
        return [id, component('Message', { content: [`step ${at} of {sys.query}`] }, before, behind)];
      }),
    ),
  );
}

/** A model that streams {@link STREAMED_PIECES} pieces into a Message. */
export function streamCanvas(): JsonObject {
  return documentOf({
    begin: component('Begin', {}, [], ['LLM:Write']),
    'LLM:Write': component('LLM', llm('pace: stream'), ['begin'], ['Message:Reply']),
    'Message:Reply': component('Message', { content: ['{LLM:Write@content}'] }, ['LLM:Write'], []),
  });
}

/** A pass for each word of the question, twelve events a pass. */
export function passesCanvas(): JsonObject {
  return documentOf({
    begin: component('Begin', {}, [], ['StringTransform:Split']),
    'StringTransform:Split': component(
      'StringTransform',
      { method: 'split', split_ref: 'sys.query', delimiters: [','] },
      ['begin'],
      ['Iteration:Words'],
    ),
    'Iteration:Words': component(
      'Iteration',
      {
        items_ref: 'StringTransform:Split@result',
        outputs: { all: { ref: 'LLM:Each@content', type: 'Array<string>' } },
      },
      ['StringTransform:Split'],
      ['Message:Reply'],
    ),
    'IterationItem:Word': {
      ...component('IterationItem', {}, [], ['LLM:Each']),
      parent_id: 'Iteration:Words',
    },
    'LLM:Each': {
      ...component('LLM', llm('pace: none'), ['IterationItem:Word'], []),
      parent_id: 'Iteration:Words',
    },
    'Message:Reply': component('Message', { content: ['finished'] }, ['Iteration:Words'], []),
  });
}
