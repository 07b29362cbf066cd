/** A program that speaks MCP over its standard streams; started by tests. */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const write = (message: object): boolean => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

if (process.env.STARTED !== undefined) appendFileSync(process.env.STARTED, `${process.pid}\n`);
if (process.env.STUBBORN !== undefined) {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 60_000);
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    const { protocolVersion } = params;
    write({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'p', version: '1' } } });
  }
  if (method === 'tools/list') write({ id, result: { tools: [{ name: 'env', inputSchema: { type: 'object' } }] } });
  if (method !== 'tools/call') return;
  if (params.name === 'exit') process.exit(3);
  const text = params.name === 'huge' ? 'x'.repeat(6_000_000) : JSON.stringify({ ...process.env });
  write({ id, result: { content: [{ type: 'text', text }] } });
});
