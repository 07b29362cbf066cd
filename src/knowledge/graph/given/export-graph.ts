/** A graph in memory as it is exported. */
import { EngineError } from '../../../errors.js';
import type { SummedGraph } from '../graph-records.js';
import { GRAPH_BOUNDS, type GraphDocument } from './graph-document.js';
import { UNSTORABLE, UNWRITABLE } from './problems.js';

/** The whole of a graph, in the order of its ids. @throws EngineError LIMIT_REACHED for more than can be given again */
export function exportGraph({ entities, relations }: SummedGraph): GraphDocument {
  const chunks =
    [...entities.values()].reduce((sum, one) => sum + one.chunks.size, 0) +
    relations.reduce((sum, one) => sum + one.chunks.length, 0);
  for (const [part, count] of Object.entries({ nodes: entities.size, edges: relations.length, chunks })) {
    const most = GRAPH_BOUNDS[part as keyof typeof GRAPH_BOUNDS];
    if (count > most)
      throw new EngineError(
        'LIMIT_REACHED',
        `The graph has ${count} ${part}; at most ${most} are exported. Name fewer layers.`,
      );
  }
  const idOf = new Map([...entities.keys()].map((id, at) => [id, isPlain(id) ? id : `node ${at}`]));
  const nodes = [...entities.values()].map((entity) => ({
    ...{ id: idOf.get(entity.id) ?? '', name: writable(entity.name), type: writable(entity.type) },
    aliases: [...new Set(entity.aliases.map(writable))],
    descriptions: entity.descriptions.map(storable),
    chunks: [...entity.chunks].map(([id, count]) => ({ id, count })),
    titles: entity.titleOf.filter((id) => entity.chunks.has(id)),
  }));
  const edges = relations.map(
    ({ source, target, relation, isExplicit: explicit, weight, descriptions, chunks: own }) => ({
      ...{
        source: idOf.get(source) ?? '',
        target: idOf.get(target) ?? '',
        relation: writable(relation),
        explicit,
        weight,
      },
      ...{ descriptions: descriptions.map(storable), chunks: own },
    }),
  );
  return { nodes, edges };
}

function isPlain(id: string): boolean {
  return id !== '' && id.trim() === id && !UNWRITABLE.test(id);
}

/** Names of texts may hold what those of users may not. */
function writable(text: string): string {
  return text.replace(new RegExp(UNWRITABLE, 'gu'), '\ufffd').trim() || '\ufffd';
}

function storable(text: string): string {
  return text.replace(new RegExp(UNSTORABLE, 'gu'), '\ufffd');
}
