/** Mastra's own server with the `hello` canvas as a workflow of two steps, stored in Postgres in `DATABASE_URL`. */
import { once } from 'node:events';
import net from 'node:net';
import { Mastra } from '@mastra/core';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { createNodeServer } from '@mastra/deployer/server';
import { PostgresStore } from '@mastra/pg';
import { z } from 'zod';

const question = z.object({ query: z.string() });
const answer = z.object({ answer: z.string() });
const begin = createStep({
  id: 'begin',
  inputSchema: question,
  outputSchema: question,
  execute: async ({ inputData }) => inputData,
});
const greet = createStep({
  id: 'greet',
  inputSchema: question,
  outputSchema: answer,
  execute: async ({ inputData }) => ({ answer: `Hello! You said "${inputData.query}", and this is turn 1.` }),
});
const hello = createWorkflow({ id: 'hello', inputSchema: question, outputSchema: answer })
  .then(begin)
  .then(greet)
  .commit();

const port = await freePort();
const mastra = new Mastra({
  workflows: { hello },
  storage: new PostgresStore({ connectionString: process.env.DATABASE_URL, max: 10 }),
  server: { port, host: '127.0.0.1' },
  logger: false,
  telemetry: { enabled: false },
});
const server = await createNodeServer(mastra, { tools: {} });
if (!server.listening) await once(server, 'listening');
console.log(`Mastra listens on http://127.0.0.1:${port}`);

async function freePort() {
  const probe = net.createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port: free } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return free;
}
