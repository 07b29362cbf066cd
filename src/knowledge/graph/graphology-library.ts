/**
 * What is used of the libraries of `graphology`: graphs in memory, communities and positions. The build puts them into this file: with what they bring they
 * take 4 MB, of which this is a twentieth.
 */
export { UndirectedGraph } from 'graphology';
export { default as louvain } from 'graphology-communities-louvain';
export { default as forceAtlas2 } from 'graphology-layout-forceatlas2';
