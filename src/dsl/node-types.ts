/** React-Flow node types of the editor, by component class; a class that is not listed is drawn as `agentNode`. */
const NODE_TYPES: Readonly<Record<string, string>> = {
  Begin: 'beginNode',
  Retrieval: 'ragNode',
  Categorize: 'categorizeNode',
  Message: 'messageNode',
  Answer: 'messageNode',
  RewriteQuestion: 'rewriteNode',
  ExeSQL: 'toolNode',
  Tool: 'toolNode',
  Code: 'toolNode',
  Switch: 'switchNode',
  Agent: 'agentNode',
  File: 'fileNode',
  Parser: 'parserNode',
  Tokenizer: 'tokenizerNode',
  TokenChunker: 'chunkerNode',
  TitleChunker: 'chunkerNode',
  OneChunker: 'chunkerNode',
  QAChunker: 'chunkerNode',
  TableChunker: 'chunkerNode',
  PageChunker: 'chunkerNode',
  Extractor: 'contextNode',
  Loop: 'loopNode',
  LoopStart: 'loopStartNode',
  ExitLoop: 'exitLoopNode',
  Iteration: 'iterationNode',
  IterationStart: 'iterationStartNode',
  Parallel: 'parallelNode',
  DataOperations: 'dataOperationsNode',
  ListOperations: 'listOperationsNode',
  VariableAssigner: 'variableAssignerNode',
  VariableAggregator: 'variableAggregatorNode',
  Keyword: 'keywordNode',
  Note: 'noteNode',
  Placeholder: 'placeholderNode',
  Compiler: 'compilationNode',
};

/** The React-Flow node type under which the editor draws a class. */
export function nodeTypeOf(componentClass: string): string {
  return Object.hasOwn(NODE_TYPES, componentClass) ? (NODE_TYPES[componentClass] ?? 'agentNode') : 'agentNode';
}
