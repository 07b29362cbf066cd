import { describe, expect, it } from 'vitest';
import { groupBy } from '../../../src/group-by.js';
import { CO_OCCURS, LINKS_TO } from '../../../src/knowledge/graph/facts.js';
import { PathNetwork } from '../../../src/knowledge/graph/search/path-search.js';
import { sumGraph } from '../../../src/knowledge/graph/sum/sum-graph.js';

/** A relation of one chunk: `A uses B`, of a weight. */
type Stated = readonly [source: string, relation: string, target: string, weight?: number];

function pathsOf(stated: readonly Stated[], from: string, to: string): string[] {
  const names = [...new Set(stated.flatMap(([source, , target]) => [source, target]))];
  const graph = sumGraph([
    {
      ...{ chunkId: 'c', documentId: 'd', layer: 'rules' },
      mentions: names.map((name, at) => ({ name, type: 'concept', start: 10 * at, end: 10 * at + name.length })),
      relations: stated.map(([source, relation, target, weight = 1]) => ({
        ...{ source, target, relation, weight, description: '', isExplicit: relation !== CO_OCCURS },
      })),
    },
  ]);
  const relationsOf = groupBy(
    graph.relations.flatMap((relation) => [relation.source, relation.target].map((id) => ({ id, relation }))),
    ({ id }) => id,
  );
  const idOf = (name: string): string => graph.idOf.get(name) ?? name;
  const byId = new Map([...relationsOf].map(([id, all]) => [id, all.map(({ relation }) => relation)]));
  const found = new PathNetwork(graph, (id) => byId.get(id) ?? []).find(idOf(from), idOf(to));
  return found.map(({ steps }) => steps.map((step) => `${step.from} ${step.relation} ${step.to}`).join(', '));
}

describe('ways between entities', () => {
  it('prefer a relation that a text states to a heavier link, and that to names of one paragraph', () => {
    const link: Stated = ['Altair', LINKS_TO, 'Deneb', 3];
    const near: Stated = ['Altair', CO_OCCURS, 'Deneb', 3];
    const uses: Stated = ['Altair', 'uses', 'Deneb'];
    expect(pathsOf([near, link, uses], 'Altair', 'Deneb')[0]).toBe('Altair uses Deneb');
    expect(pathsOf([near, link], 'Altair', 'Deneb')[0]).toBe(`Altair ${LINKS_TO} Deneb`);
    expect(pathsOf([near], 'Altair', 'Deneb')).toEqual([`Altair ${CO_OCCURS} Deneb`]);
  });

  it('are three at most, the shortest first, and share no entity in between', () => {
    const stars = ['Rigel', 'Sirius', 'Canopus', 'Procyon'];
    const over = stars.flatMap((star): Stated[] => [
      ['Altair', 'uses', star],
      [star, 'uses', 'Deneb'],
    ]);
    const found = pathsOf([...over, ['Altair', 'replaces', 'Deneb']], 'Altair', 'Deneb');
    expect(found[0]).toBe('Altair replaces Deneb');
    expect(found).toHaveLength(3);
    const between = found.slice(1).map((way) => stars.filter((star) => way.includes(star)));
    expect(between.map((some) => some.length)).toEqual([1, 1]);
    expect(between[0]).not.toEqual(between[1]);
  });

  it('are none between what nothing connects', () => {
    const apart: Stated[] = [
      ['Altair', 'uses', 'Rigel'],
      ['Sirius', 'uses', 'Deneb'],
    ];
    expect(pathsOf(apart, 'Altair', 'Deneb')).toEqual([]);
  });
});
