import { describe, expect, it } from 'vitest';
import { checkCanvas } from '../../src/canvas/load-canvas.js';

const node = (type: string, downstream: string[]) => ({
  obj: { component_name: type, params: {} },
  downstream,
  upstream: [],
});

/** Problems of a document with these components, as `code component`. */
function problemsOf(components: Record<string, object>): string[] {
  const { plan, issues } = checkCanvas({ components, path: [], history: [], retrieval: [] });
  expect(plan).toBeUndefined();
  return issues.map(({ code, component }) => `${code} ${component}`);
}

describe('checkCanvas', () => {
  it('refuses an ingestion pipeline with one reason, whatever is in it', () => {
    const pipeline = { File: node('File', ['Parser:A']), 'Parser:A': node('Parser', ['T']), T: node('Teleporter', []) };
    expect(problemsOf(pipeline)).toEqual(['ingestion-pipeline File']);
  });

  it('names every component of a canvas that it does not know', () => {
    const canvas = { begin: node('Begin', ['A', 'B']), A: node('Teleporter', []), B: node('Parser', []) };
    expect(problemsOf(canvas)).toEqual(['component-unknown A', 'component-unknown B']);
  });

  it('names what a document has in the place of a number, not what a schema made of it', () => {
    const llm = node('LLM', []);
    const params = { llm_id: 'm', prompts: 'x', temperature: 'hot' };
    const components = { begin: node('Begin', ['A']), A: { ...llm, obj: { ...llm.obj, params } } };
    const { issues } = checkCanvas({ components, path: [], history: [], retrieval: [] });
    expect(issues).toMatchObject([
      {
        path: '$.components["A"].obj.params.temperature',
        message: 'LLM: Invalid input: expected number; received "hot"',
      },
    ]);
  });
});
