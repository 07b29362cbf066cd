/** Nodes and edges of RAGFlow's layout, as its editor writes them. */
import type { JsonObject } from '../../json.js';
import type { DocumentComponent } from '../document.js';
import { typeKey } from './edit.js';
import { formAfter } from './forms.js';

/** A place on the canvas; in a body from the corner of its container. */
export interface Place {
  readonly x: number;
  readonly y: number;
  /** Of containers. */
  readonly width?: number;
  readonly height?: number;
}

/** How the editor draws types, in small letters; all others are drawn alike. */
const NODE_TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    agent: 'agentNode',
    begin: 'beginNode',
    categorize: 'categorizeNode',
    compiler: 'compilationNode',
    dataoperations: 'dataOperationsNode',
    exitloop: 'exitLoopNode',
    extractor: 'contextNode',
    file: 'beginNode',
    iteration: 'iterationNode',
    iterationitem: 'iterationStartNode',
    listoperations: 'listOperationsNode',
    loop: 'loopNode',
    loopitem: 'loopStartNode',
    message: 'messageNode',
    parser: 'parserNode',
    retrieval: 'retrievalNode',
    switch: 'switchNode',
    tokenizer: 'tokenizerNode',
    variableaggregator: 'variableAggregatorNode',
    variableassigner: 'variableAssignerNode',
  }),
);

const DEFAULT_TYPE = 'ragNode';

/** Size of a new container. */
const BODY = { width: 560, height: 260 } as const;

/** A node for a component. */
export function layoutNode(component: DocumentComponent, place: Place, hasBody: boolean): JsonObject {
  const { id, type, name, parent, params } = component;
  const key = typeKey(type);
  const drawn = NODE_TYPES.get(key) ?? (key.endsWith('chunker') ? 'chunkerNode' : DEFAULT_TYPE);
  const { x, y, width = BODY.width, height = BODY.height } = place;
  return {
    id,
    type: drawn,
    position: { x, y },
    data: { label: type, name, form: formAfter(type, {}, { before: {}, after: params }) },
    sourcePosition: 'right',
    targetPosition: 'left',
    ...(hasBody ? { width, height } : {}),
    ...(parent === undefined ? {} : { parentId: parent, extent: 'parent' }),
  };
}

/** An edge between two nodes. */
export function layoutEdge(source: string, sourceHandle: string, target: string): JsonObject {
  return {
    id: `xy-edge__${source}${sourceHandle}-${target}end`,
    source,
    sourceHandle,
    target,
    targetHandle: 'end',
    type: 'buttonEdge',
    markerEnd: 'logo',
    data: { isHovered: false },
    zIndex: 1001,
  };
}
