/** What a server costs that only sends: `bare.mjs <file of frames>`, a Koa route that reads the body and streams the same frames. */
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import Koa from 'koa';

const frames = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const router = new Router();
router.post('/api/v1/agents/:id/stream', (exchange) => {
  const list = frames[exchange.params.id] ?? [];
  const body = new PassThrough();
  exchange.set({ 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-cache', 'X-Run-Id': 'none' });
  exchange.body = body;
  for (const frame of list) body.write(frame);
  body.end();
});
const server = new Koa()
  .use(bodyParser())
  .use(router.routes())
  .listen(0, '127.0.0.1', () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    console.log(`Runnel listens on http://127.0.0.1:${port}`);
  });
