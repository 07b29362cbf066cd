import { describe, expect, it } from 'vitest';
import type { GraphPart } from '../../../src/knowledge/graph/graph-answers.js';
import { drawnPart } from '../../../web/graph/drawn-part.js';
import type { GraphEdge, GraphNode } from '../../../web/graph/graph-data.js';
import { otherNames } from '../../../web/graph/merge-data.js';

const node = (name: string, x = 0): GraphNode => ({
  ...{ id: name.toLowerCase(), name, type: 'concept', mentions: 1, documents: 1, community: null, isGiven: false },
  ...{ x, y: 0 },
});

const edge = (source: string, target: string, isExplicit = true): GraphEdge => ({
  ...{ source, target, relation: isExplicit ? 'uses' : 'co_occurs', weight: 1, isExplicit, isGiven: false },
});

const PART: GraphPart = {
  nodes: [node('A', 10), node('B', 20)],
  edges: [edge('a', 'b'), edge('a', 'b', false)],
  communities: [],
  total: 2,
};

const step = (from: string, to: string) => ({ from, to, relation: 'uses', isExplicit: true });

describe('the drawn part of a graph', () => {
  it('leaves out edges of names that are only near each other where they are hidden', () => {
    expect(drawnPart(PART, [], false).edges).toHaveLength(2);
    expect(drawnPart(PART, [], true).edges).toMatchObject([{ relation: 'uses', isOnWay: false }]);
  });

  it('draws a step of the way once, and marks it', () => {
    const { edges, way } = drawnPart(PART, [step('A', 'B'), step('A', 'B')], false);
    expect(edges.filter(({ relation }) => relation === 'uses')).toMatchObject([{ isOnWay: true }]);
    expect([...way]).toEqual(['a', 'b']);
  });

  it('adds entities of the way that the part does not have, each once, beside the one before', () => {
    const { nodes, edges } = drawnPart(PART, [step('A', 'X'), step('X', 'Y'), step('Y', 'b')], true);
    expect(nodes.map(({ id }) => id)).toEqual(['a', 'b', 'X', 'Y']);
    expect(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(4);
    expect(edges.filter(({ isOnWay }) => isOnWay).map(({ source, target }) => source + target)).toEqual([
      'aX',
      'XY',
      'Yb',
    ]);
  });
});

describe('the other names of an entity', () => {
  it('are those that were taken for it, directly or by others', () => {
    const pairs = [
      ['B', 'C'],
      ['A', 'B'],
      ['X', 'Y'],
    ] as const;
    expect(otherNames('A', pairs)).toEqual(['B', 'C']);
    expect(otherNames('Z', pairs)).toEqual([]);
  });
});
