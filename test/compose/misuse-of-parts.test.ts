/** What steps, states, questions, tools and components are made of, in the wrong form: each is refused, and the error says where, what and what to do. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as runnel from '../../src/index.js';
import { waiting } from './support/waiting-runs.js';

// Wrong values are the subject, so the types are put aside.
// biome-ignore lint/suspicious/noExplicitAny: see above
const R = runnel as any;
const same = (value: unknown) => value;
// biome-ignore lint/suspicious/noExplicitAny: the builders are misused, too
type Draw = (board: any, input?: any) => unknown;

/** Runs it, and gives code and message of what it failed with. */
async function failureOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    return runnel.EngineError.is(error) ? `${error.code}: ${error.message}` : `${error}`;
  }
  return 'did not fail';
}

const graph = (draw: Draw) => () => R.graph('g', draw);
const workflow = (draw: Draw) => () => R.workflow('w', (input: unknown, w: unknown) => draw(w, input));
const inside = (work: Draw) => () =>
  R.invoke(
    R.step('s', (_: unknown, at: unknown) => work(at)),
    1,
  );
const component = (made: () => unknown, input: unknown) => () => R.invoke(R.componentStep(made()), input);

describe('parts of graphs and workflows, which name the graph and the place', () => {
  it.each<[string, () => unknown, string]>([
    [
      'no step of a node',
      graph((g) => g.node('a')),
      'Graph "g": "a" must be a function or a step; received undefined.',
    ],
    ['no target of an edge', graph((g) => g.edge(g.start)), 'an edge from "start" needs a node, as g.node(…) gives it'],
    [
      'no target of a route',
      graph((g) => g.branch(g.start, { long: undefined }, same)),
      'the route "long" of the branch at "start" needs a node, as g.node(…) gives it; received undefined.',
    ],
    [
      'no chooser',
      graph((g) => g.branch(g.start, { end: g.end })),
      'Graph "g", branch at "start": "choose" must be a function; received undefined.',
    ],
    ['no part of a join', graph((g) => g.join({ a: 1 }, g.end)), 'the join at "end", part "a", needs a node'],
    ['no target of a join', graph((g) => g.join({ a: g.start })), 'a join needs a node'],
    ['no output of a workflow', workflow((w) => w.end()), 'Workflow "w": w.end needs an output'],
    [
      'no reference to map',
      workflow((w) => w.map()),
      'Workflow "w": w.map needs a reference, as w.node(…) and the input are; received undefined.',
    ],
    [
      'no function to map by',
      workflow((w, input) => w.map(input.name)),
      'Workflow "w", w.map of "start.name": "change" must be a function; received undefined.',
    ],
    [
      'no chooser of arms',
      workflow((w, input) => w.branch('b', input, undefined, {})),
      'Workflow "w", branch "b": "choose" must be a function; received undefined.',
    ],
    ['no item', () => R.map(), 'map: "item" must be a function or a step; received undefined.'],
    ['no bound', () => R.loop(same, { maxRounds: 1 }), 'loop: "until" must be a function; received undefined.'],
    ['no step of a chain', () => R.chain(same, undefined), 'chain: "step_2" must be a function or a step'],
  ])('are refused: %s', async (_, work, message) => {
    const failure = await failureOf(work);
    expect(failure).toMatch(/^PLAN_INVALID: /);
    expect(failure).toContain(message);
  });

  it('say at an end that it has no options', async () => {
    const both = graph((g) => {
      for (const id of ['a', 'b']) {
        const node = g.node(id, same);
        g.edge(g.start, node);
        g.edge(node, g.end);
      }
    });
    expect(await failureOf(() => R.invoke(both(), 1))).toContain(
      'Join them: g.join({ … }, g.end), or lead them to a node',
    );
  });
});

describe('states', () => {
  const state = runnel.defineState('notes', () => ({ lines: [] as string[] }));
  it.each<[string, () => unknown, string]>([
    [
      'a misspelt option',
      () => R.defineState('n', same, { reducer: {} }),
      'defineState "n": there is no option "reducer". Did you mean "reducers"?',
    ],
    ['options that are null', () => R.defineState('n', same, null), 'defineState "n": "options" must be an object'],
    [
      'a reducer that is a number',
      () => R.defineState('n', same, { reducers: { total: 3 } }),
      'defineState "n": "reducers.total" must be a function; received 3.',
    ],
    [
      'no token',
      inside((at) => at.state()),
      'Step "s", at.state: "state" must be what defineState(…) gives; received undefined.',
    ],
    [
      'a name as a token',
      inside((at) => at.state('notes')),
      '"state" must be what defineState(…) gives; received "notes".',
    ],
    [
      'a field in place of fields',
      () =>
        R.invoke(
          R.graph(
            'g',
            // biome-ignore lint/suspicious/noExplicitAny: see above
            (g: any) => {
              const a = g.node('a', (_: unknown, at: runnel.StepActivation) =>
                at.state(state).update('lines' as never),
              );
              g.edge(g.start, a);
              g.edge(a, g.end);
            },
            { state },
          ),
          1,
        ),
      'The state "notes": "fields" must be an object of the fields that change; received "lines".',
    ],
    [
      'no state to edit',
      () => R.editState(),
      'editState: "state" must be what defineState(…) gives; received undefined.',
    ],
    ['a misspelt place', () => R.editState(state, {}, { path: 'a' }), 'editState "notes": there is no option "path".'],
    ['a place that is no path', () => R.editState(state, {}, { at: 3 }), '"at" must be a path such as "review"'],
  ])('refuse %s', async (_, work, message) => {
    const failure = await failureOf(work);
    expect(failure).toMatch(/^OPTION_INVALID: /);
    expect(failure).toContain(message);
  });
});

describe('questions and what answers them', () => {
  it.each<[string, () => unknown, string]>([
    ['no question', () => R.ask(z.boolean()), 'ask: "question" must be what is asked, or a function that makes it'],
    [
      'a misspelt option',
      inside((at) => at.interrupt('x', { memmo: 1 })),
      'Step "s", at.interrupt: there is no option "memmo". Did you mean "memo"?',
    ],
    [
      'a text as the schema of answers',
      inside((at) => at.interrupt('x', { answer: 'yes' })),
      'Step "s", at.interrupt: "answer" must be a Standard Schema, such as z.string(); received "yes".',
    ],
    [
      'a time that is a text',
      inside((at) => at.interrupt('x', { expiresInMs: 'soon' })),
      '"expiresInMs" must be a whole',
    ],
    ['no name of a notice', inside((at) => at.emit()), 'Step "s", at.emit: "name" must be a text that is not empty'],
    [
      'no work to observe',
      inside((at) => at.observe('function', 'part', 1)),
      'Step "s", at.observe: "work" must be a function; received undefined.',
    ],
    [
      'a misspelt option of a resume',
      () => R.resumeFrom('r1', {}, { state: [] }),
      'resumeFrom: there is no option "state". Did you mean "states"?',
    ],
    [
      'a misspelt option of a recovery',
      () => R.recoverFrom({ events: [] }, {}, { x: 1 }),
      'recoverFrom: there is no option',
    ],
  ])('are refused: %s', async (_, work, message) => {
    const failure = await failureOf(work);
    expect(failure).toMatch(/^OPTION_INVALID: /);
    expect(failure).toContain(message);
  });

  it('are refused: a checkpoint that is still text', async () => {
    const { checkpoint } = await waiting(runnel.ask(z.boolean(), 'Sure?'), null);
    expect(await failureOf(() => R.resumeFrom(JSON.stringify(checkpoint), { ask: true }))).toMatch(
      /^OPTION_INVALID: resumeFrom: "from" must be .* no JSON text, which has to be parsed first; received "\{/,
    );
  });
});

describe('tools, prompts and components of canvases', () => {
  const tool = { name: 'a', description: 'b', run: same };
  const object = z.object({});
  it.each<[string, () => unknown, string]>([
    ['a misspelt field', () => R.defineTool({ ...tool, timeout: 5 }), 'defineTool "a": there is no option "timeout".'],
    [
      'no schema of answers',
      () => R.defineTool({ ...tool, answer: 'x' }),
      'defineTool "a": "answer" must be a Standard',
    ],
    ['no messages', () => R.fString(), 'fString: "parts" must be at least one message'],
    [
      'no schema to parse by',
      () => R.messageParser(),
      'must be a Standard Schema, such as z.object({ … }); received undef',
    ],
    [
      'a wrong direction',
      () => R.draw(same, { direction: 'up' }),
      'draw: "direction" must be "down" or "right"; received "up".',
    ],
    ['no type', () => R.componentOf(R.passthrough(), {}), 'componentOf: "type" must be a text that is not empty'],
    [
      'no schema of parameters',
      () => R.componentOf(R.passthrough(), { type: 'Same' }),
      'componentOf "Same": "params" must be a schema of zod',
    ],
    [
      'a misspelt option',
      () => R.componentOf(R.passthrough(), { type: 'Same', params: object, speak: true }),
      'componentOf: there is no option "speak". Did you mean "speaks"?',
    ],
    ['nothing as a component', () => R.createRegistry([undefined]), 'createRegistry: "component" must be a component'],
    ['no component', () => R.defineComponent(), 'defineComponent: "component" must be a component'],
    [
      'a component that does nothing',
      () => R.defineComponent({ type: 'A' }),
      'defineComponent "A": "create" must be a',
    ],
    ['no document', () => R.loadCanvas(), 'loadCanvas: "source" must be the JSON text of a document, or the document'],
  ])('are refused: %s', async (_, work, message) => {
    const failure = await failureOf(work);
    expect(failure).toMatch(/^OPTION_INVALID: /);
    expect(failure).toContain(message);
  });
});

describe('components of documents', () => {
  const retriever = async () => [];
  it.each<[string, () => unknown, string]>([
    ['memoryIndex', () => R.memoryIndex({ topk: 2 }), 'Did you mean "topK"?'],
    ['fileLoader', () => R.fileLoader({ root: '.', maxByte: 1 }), 'Did you mean "maxBytes"?'],
    ['urlLoader', () => R.urlLoader({ http: { fetch: same }, header: {} }), 'Did you mean "headers"?'],
    ['parserByExtension', () => R.parserByExtension({ parser: {} }), 'Did you mean "parsers"?'],
    ['splitByCharacters', () => R.splitByCharacters({ size: 9, overlaps: 1 }), 'Did you mean "overlap"?'],
    ['splitByTokens', () => R.splitByTokens({ sise: 9 }), 'Did you mean "size"?'],
    ['splitByHeadings', () => R.splitByHeadings({ level: [1] }), 'Did you mean "levels"?'],
    ['multiQuery', () => R.multiQuery({ retriever, rewrites: same }), 'Did you mean "rewrite"?'],
    ['routeRetrievers', () => R.routeRetrievers({ retriever }), 'Did you mean "retrievers"?'],
    ['parentRetriever', () => R.parentRetriever({ retriever, parent: same }), 'Did you mean "parents"?'],
    ['parentIndexer', () => R.parentIndexer({ indexer: same, splits: same }), 'Did you mean "split"?'],
    ['rerank', () => R.rerank({ rerank: same }, { topk: 1 }), 'Did you mean "topK"?'],
    ['rerankedRetriever', () => R.rerankedRetriever({ retriever, reranks: same }), 'Did you mean "rerank"?'],
  ])('know their options: %s', async (name, work, hint) => {
    const failure = await failureOf(work);
    expect(failure).toContain(`OPTION_INVALID: ${name}: there is no option`);
    expect(failure).toContain(hint);
  });

  it.each<[string, () => unknown, string]>([
    [
      'splitByHeadings',
      component(() => R.splitByHeadings(), 'a text'),
      'needs a list of documents; received "a text".',
    ],
    [
      'splitByCharacters',
      component(() => R.splitByCharacters({ size: 9 }), [{ text: 'a' }]),
      'needs a list of documents; item 0 is an object without "id" and "text".',
    ],
    ['memoryIndex', component(() => R.memoryIndex().index, {}), 'needs a list of documents; received an object.'],
    [
      'memoryIndex',
      component(() => R.memoryIndex().retrieve, undefined),
      'needs a query, which is a text; received undef',
    ],
    [
      'multiQuery',
      component(() => R.multiQuery({ retriever, rewrite: () => [] }), 5),
      'needs a query, which is a text',
    ],
    ['routeRetrievers', component(() => R.routeRetrievers({ retrievers: { a: retriever } }), 5), 'needs a query'],
    ['parentRetriever', component(() => R.parentRetriever({ retriever, parents: retriever }), 5), 'needs a query'],
    ['parentIndexer', component(() => R.parentIndexer({ indexer: same, split: same }), 5), 'needs a list of documents'],
    ['rerank', component(() => R.rerank({ rerank: same }), {}), 'needs a query, which is a text; received undefined.'],
    ['bestFirstAndLast', component(() => R.bestFirstAndLast(), 'x'), 'needs a list of documents; received "x".'],
    ['urlLoader', component(() => R.urlLoader({ http: { fetch: same } }), {}), 'needs a URI, which is a text'],
  ])('know what they work on: %s', async (name, work, message) => {
    const failure = await failureOf(work);
    expect(failure).toContain(`INPUT_INVALID: "${name}" ${message}`);
  });
});
