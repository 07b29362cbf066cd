/** What a step is called by observers, options and drawings. */
export type StepKind =
  | 'function'
  | 'graph'
  | 'branch'
  | 'chatModel'
  | 'prompt'
  | 'tool'
  | 'toolsNode'
  | 'retriever'
  | 'embedder'
  | 'indexer'
  | 'loader'
  | 'transformer'
  | 'agent'
  | 'canvas';
