import type { BenchCanvas } from './canvases.js';
import type { Call } from './load.js';

/** A server of `bench/peers`, and how it is asked. */
export interface Peer {
  readonly name: string;
  /** In `bench/peers`. */
  readonly file: string;
  readonly callOf: (url: string, canvas: BenchCanvas) => Call;
}

/** Servers that users would choose instead, with the same two steps as `hello` and one stored run for each request. */
export const PEER_SERVERS: readonly Peer[] = [
  {
    name: 'LangGraph.js',
    file: 'serve-langgraph.mjs',
    callOf: (url, { query }) => ({
      url: () => url,
      body: { query },
      isWhole: (text) => text.endsWith('data:[DONE]\n\n'),
    }),
  },
  {
    name: 'Mastra',
    file: 'serve-mastra.mjs',
    callOf: (url, { query }) => ({
      url: () => `${url}/api/workflows/hello/stream?runId=${crypto.randomUUID()}`,
      body: { inputData: { query } },
      isWhole: (text) => text.includes('"workflowStatus":"success"'),
    }),
  },
];
