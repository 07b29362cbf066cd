import { describe, expect, it } from 'vitest';
import { GraphSession, type StoredContribution } from '../../../src/knowledge/graph/graph-session.js';
import { createRules } from '../../../src/knowledge/graph/rules/extract-by-rules.js';

const rules = createRules();
const contribution = (chunkId: string, text: string): StoredContribution => ({
  ...{ chunkId, documentId: 'd', layer: 'rules', version: '1', ...rules(text) },
});
const DECISION = { id: '1', kind: 'same', names: ['Kafka', 'Redis'], by: 'user' } as const;

describe('a graph in memory', () => {
  const open = () => {
    const session = new GraphSession();
    session.change({ put: [contribution('c', 'Orion uses Kafka. Vega uses Redis.')], decisions: [], aliases: [] });
    return { session, before: session.graph };
  };

  it('is summed once, also where it is loaded again and where a model has written something', () => {
    const { session, before } = open();
    const { communities, reports } = session;
    session.change({ decisions: [], aliases: [], reports: [], descriptions: [] });
    expect(session.graph).toBe(before);
    expect(session.communities).toBe(communities);
    expect(session.reports).not.toBe(reports);
  });

  it.each([
    ['a contribution', { put: [contribution('e', 'Deneb uses Kafka.')] }],
    ['one that is gone', { remove: [{ chunkId: 'c', layer: 'rules' }] }],
    ['a decision', { decisions: [DECISION] }],
    ['an alias', { aliases: [['Orion', 'the hunter']] }],
  ] as const)('is summed anew for %s', (_, change) => {
    const { session, before } = open();
    session.change(change as Parameters<GraphSession['change']>[0]);
    expect(session.graph).not.toEqual(before);
  });
});
