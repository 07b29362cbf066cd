/** The smallest canvas that runs. */
import type { JsonObject } from '../../src/json.js';

const node = (id: string, type: string, x: number) => ({
  id,
  type: `${type.toLowerCase()}Node`,
  position: { x, y: 200 },
  measured: { width: 200, height: 50 },
  sourcePosition: 'right',
  targetPosition: 'left',
  data: { label: type, name: type },
});

/** Begin and Message, as RAGFlow stores them. */
export const EMPTY_CANVAS: JsonObject = {
  components: {
    begin: {
      obj: { component_name: 'Begin', params: { mode: 'conversational', prologue: '', inputs: {} } },
      downstream: ['Message:Reply'],
      upstream: [],
    },
    'Message:Reply': {
      obj: { component_name: 'Message', params: { content: ['{sys.query}'] } },
      downstream: [],
      upstream: ['begin'],
    },
  },
  path: [],
  history: [],
  retrieval: [],
  globals: {},
  variables: {},
  graph: {
    nodes: [node('begin', 'Begin', 0), node('Message:Reply', 'Message', 300)],
    edges: [
      {
        id: 'begin-reply',
        source: 'begin',
        sourceHandle: 'start',
        target: 'Message:Reply',
        targetHandle: 'end',
      },
    ],
  },
};
