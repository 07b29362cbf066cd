/**
 * What is used of the libraries of `graphology`: graphs in memory, communities and positions. The build puts them into this file: with what they bring they
 * take 4 MB, of which this is a twentieth.
 */
import louvainModule from 'graphology-communities-louvain';
import forceAtlas2Module from 'graphology-layout-forceatlas2';

export { UndirectedGraph } from 'graphology';

// What a package of this kind exports is its default, for Node; its types say otherwise.
export const louvain = louvainModule as unknown as typeof louvainModule.default;
export const forceAtlas2 = forceAtlas2Module as unknown as typeof forceAtlas2Module.default;
