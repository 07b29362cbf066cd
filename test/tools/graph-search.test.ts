import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { loadCanvas } from '../../src/canvas/load-canvas.js';
import { runTurn } from '../../src/canvas/turn.js';
import type { RetrievalRequest, Retriever } from '../../src/knowledge/retriever.js';
import { graphSearch } from '../../src/tools/graph-search.js';
import { errorOf, eventsOf, resultOf } from './support/upstream.js';

const WHY = { entities: ['Orion'], steps: [] };

function remember() {
  const asked: RetrievalRequest[] = [];
  const retriever: Retriever = {
    async search(request) {
      asked.push(request);
      const passage = {
        id: '1',
        content: 'Orion uses Kafka.',
        documentId: 'd',
        documentName: 'Orion.md',
        datasetId: 's',
      };
      return request.question === 'nothing' ? [] : [{ ...passage, similarity: 1, record: { why: WHY } }];
    },
  };
  return { asked, services: { retriever } };
}

describe('graph_search', () => {
  it('asks the graphs of the datasets that are named, and tells why passages are there', async () => {
    const { asked, services } = remember();
    const params = { datasets: 'one, two', kind: 'path', top_n: 3 };
    const { outputs } = await resultOf(graphSearch, '', { args: { query: 'Orion and Kafka' }, params, services });
    expect(asked).toMatchObject([{ datasets: ['one', 'two'], graph: 'path', topN: 3, question: 'Orion and Kafka' }]);
    expect(outputs.json).toMatchObject([{ document: 'Orion.md', why: WHY }]);
  });

  it('lets a model take part where it may be called', async () => {
    const { asked, services } = remember();
    const args = { query: 'a' };
    await resultOf(graphSearch, '', { args, params: { datasets: 'one', kind: 'global' }, services });
    expect(Object.keys(asked[0] ?? {})).not.toContain('graphBudget');
    const params = { datasets: 'one', kind: 'global', max_calls: 5, llm_id: 'm@Fake' };
    await resultOf(graphSearch, '', { args, params, services });
    expect(asked[1]).toMatchObject({ graphBudget: { calls: 5 }, graphModel: 'm@Fake' });
  });

  it('tells what a model took before its result, also when it fails then', async () => {
    const usage = { promptTokens: 300, completionTokens: 40, totalTokens: 340 };
    const retriever: Retriever = {
      async search({ question, onGraphCall }) {
        onGraphCall?.(usage);
        onGraphCall?.(usage);
        if (question === 'fail') throw new Error('down');
        return [];
      },
    };
    const given = { params: { datasets: 'one', kind: 'global', max_calls: 5 }, services: { retriever } };
    const told = await eventsOf(graphSearch, '', { ...given, args: { query: 'a' } });
    expect(told.map(({ type }) => type)).toEqual(['usage', 'usage', 'result']);

    // A node and its run count it.
    const canvas = loadCanvas({
      components: {
        begin: { obj: { component_name: 'Begin', params: {} }, downstream: ['node'], upstream: [] },
        node: {
          obj: { component_name: 'GraphSearch', params: { ...given.params, query: '{sys.query}' } },
          downstream: [],
          upstream: ['begin'],
        },
      },
    });
    for (const query of ['a', 'fail']) {
      const events = await lastValueFrom(runTurn(canvas, { query }, { services: { retriever } }).pipe(toArray()));
      const used = events.flatMap((event) => (event.type === 'node-usage' ? [event] : []));
      expect(used).toMatchObject([{ node: 'node', ...usage }, usage]);
      expect(events.at(-1)?.type).toBe(query === 'a' ? 'run-settled' : 'run-failed');
    }
  });

  it('finds nothing where there is nothing', async () => {
    const given = { args: { query: 'nothing' }, params: { datasets: 'one' }, services: remember().services };
    expect(await resultOf(graphSearch, '', given)).toMatchObject({ text: '', outputs: { json: [] } });
  });

  it('says that it needs a dataset', async () => {
    const error = await errorOf(graphSearch, '', { args: { query: 'a' }, services: remember().services });
    expect(error).toMatchObject({ code: 'TOOL_FAILED', message: expect.stringContaining('"datasets"') });
  });
});
