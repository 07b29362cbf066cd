/** What a canvas shows of a run that goes on with others. */
import type { NodePicture, RunPicture } from '../../src/canvas/picture/picture.js';

/** The last picture, in which nodes that did nothing yet, and edges not taken, are as the runs before left them. */
export function joinPictures(pictures: readonly RunPicture[]): RunPicture | undefined {
  const last = pictures.at(-1);
  if (last === undefined || pictures.length === 1) return last;
  const nodes = new Map<string, NodePicture>(last.nodes);
  const edges = new Map(last.edges);
  for (const before of pictures.slice(0, -1).toReversed()) {
    for (const [id, node] of before.nodes) {
      if (nodes.get(id)?.status === 'idle') nodes.set(id, node);
    }
    for (const [key, edge] of before.edges) if (!edges.has(key)) edges.set(key, edge);
  }
  return { ...last, nodes, edges };
}
