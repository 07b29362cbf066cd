/**
 * What is used of the libraries of `graphology`: graphs in memory, communities and positions. The build puts them into this file: with what they bring they
 * take 4 MB, of which this is a twentieth.
 */
import louvainModule from 'graphology-communities-louvain';
import forceAtlas2Module from 'graphology-layout-forceatlas2';

export { UndirectedGraph } from 'graphology';

/** What a package of this kind exports is its default: Node gives it so, while types speak of a property `default` where modules are resolved as Node does. */
type Exported<M> = M extends { readonly default: infer D } ? D : M;

export const louvain = louvainModule as unknown as Exported<typeof louvainModule>;
export const forceAtlas2 = forceAtlas2Module as unknown as Exported<typeof forceAtlas2Module>;
