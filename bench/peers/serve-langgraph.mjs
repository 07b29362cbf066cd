/**
 * LangGraph.js behind HTTP as its guides say: the `hello` canvas as a StateGraph with the Postgres checkpointer in `DATABASE_URL`, one thread per
 * run, streamed in mode `updates` as server-sent events. Durability as by default (`async`: a step does not wait for the checkpoint before it).
 */
import { once } from 'node:events';
import http from 'node:http';
import { json } from 'node:stream/consumers';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import pg from 'pg';

// As many connections as Runnel has.
const checkpointer = new PostgresSaver(new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 }));
await checkpointer.setup();

const last = (initial) => Annotation({ reducer: (_, value) => value, default: () => initial });
const graph = new StateGraph(Annotation.Root({ query: last(''), answer: last('') }))
  .addNode('begin', () => ({}))
  .addNode('greet', ({ query }) => ({ answer: `Hello! You said "${query}", and this is turn 1.` }))
  .addEdge(START, 'begin')
  .addEdge('begin', 'greet')
  .addEdge('greet', END)
  .compile({ checkpointer });

const server = http.createServer(async (request, response) => {
  const { query } = await json(request);
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  const options = { streamMode: 'updates', configurable: { thread_id: crypto.randomUUID() } };
  for await (const event of await graph.stream({ query }, options)) response.write(`data:${JSON.stringify(event)}\n\n`);
  response.end('data:[DONE]\n\n');
});
await once(server.listen(0, '127.0.0.1'), 'listening');
console.log(`LangGraph.js listens on http://127.0.0.1:${server.address().port}`);
