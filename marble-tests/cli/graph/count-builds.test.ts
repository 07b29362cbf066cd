import { describe, expect, it } from 'vitest';
import { countBuilds } from '../../../src/cli/graph/count-builds.js';
import { type BuildProgress, newProgress } from '../../../src/knowledge/graph/build/build-options.js';
import type { BuildReport } from '../../../src/knowledge/graph/build/graph-builds.js';
import type { KnowledgeGraphs } from '../../../src/knowledge/graph/knowledge-graphs.js';
import { createGraphMeters } from '../../../src/telemetry/graph-meters.js';
import { type Labels, MetricRegistry } from '../../../src/telemetry/metric-registry.js';
import { marbles } from '../../support/scheduler.js';

const REQUEST = { layers: ['links'], budget: {}, entity_types: [], model: '' } as const;

function report(change: Partial<BuildProgress>): BuildReport {
  const request = { ...REQUEST, layers: [...REQUEST.layers], entity_types: [] };
  return { tenant: 't', datasetId: 'd', progress: { ...newProgress(request, 0), ...change } };
}

const values = {
  p: report({ progress: 0.5 }),
  F: report({ progress: 0.5, finishedAt: 1 }),
  E: report({ progress: 1, finishedAt: 1 }),
};

/** A graph that cannot be asked. */
const GRAPHS: Pick<KnowledgeGraphs, 'ask'> = {
  ask: () => {
    throw new Error('it is not there');
  },
};

function openMeters() {
  const registry = new MetricRegistry();
  const meters = createGraphMeters(registry);
  const builds = (): readonly (readonly [Labels, number])[] => {
    const family = registry.collect().find(({ name }) => name === 'runnel_graph_builds_total');
    return family?.type === 'counter' ? family.points.map(({ labels, value }) => [labels, value] as const) : [];
  };
  return { counted: countBuilds(meters, GRAPHS), builds };
}

describe('countBuilds', () => {
  it('passes every report on when it comes, and counts the ends', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const { counted, builds } = openMeters();
      const source = cold('                     -p-F-p-p|', values);
      expectObservable(source.pipe(counted)).toBe('-p-F-p-p|', values);
      expectSubscriptions(source.subscriptions).toBe('^-------!');
      flush();
      expect(builds()).toEqual([[{ outcome: 'failed' }, 1]]);
    }));

  it('fails as its source does', () =>
    marbles(({ cold, expectObservable }) => {
      const { counted } = openMeters();
      expectObservable(cold('-p-F-#', values).pipe(counted)).toBe('-p-F-#', values);
    }));

  it('goes on when a graph cannot be asked', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const { counted, builds } = openMeters();
      expectObservable(cold('-p-E-p-E|', values).pipe(counted)).toBe('-p-E-p-E|', values);
      flush();
      expect(builds()).toEqual([[{ outcome: 'complete' }, 2]]);
    }));

  it('is unsubscribed early', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const { counted, builds } = openMeters();
      const source = cold('                     -p---F--', values);
      const stop = '                            ---!';
      expectObservable(source.pipe(counted), stop).toBe('-p', values);
      expectSubscriptions(source.subscriptions).toBe('^--!');
      flush();
      expect(builds()).toEqual([]);
    }));

  it('counts builds that end in one moment', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const { counted, builds } = openMeters();
      expectObservable(cold('(pFpF|)', values).pipe(counted)).toBe('(pFpF|)', values);
      flush();
      expect(builds()).toEqual([[{ outcome: 'failed' }, 2]]);
    }));
});
