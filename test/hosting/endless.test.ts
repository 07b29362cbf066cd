/** Canvases that go round for ever. */
import { expect, it } from 'vitest';
import { documentOf, ECHO } from '../transport/support/documents.js';
import { openStream } from '../transport/support/event-stream.js';
import { startServer } from '../transport/support/server.js';

const ENDLESS = documentOf({
  begin: ['Begin', ['StringTransform:A']],
  'StringTransform:A': ['StringTransform', ['StringTransform:B'], { method: 'merge', script: 'a', delimiters: [' '] }],
  'StringTransform:B': ['StringTransform', ['StringTransform:A'], { method: 'merge', script: 'b', delimiters: [' '] }],
});

it('end after a number of steps, with an error that names the cycle', async () => {
  const server = await startServer({ env: { RUNNEL_MAX_STEPS: '500' } });
  const agent = await server.agent(ENDLESS);
  const frames = await (await openStream(`${server.url}/api/v1/agents/${agent}/stream`, { body: {} })).rest();
  expect(frames.at(-2)?.json).toMatchObject({
    error: 'RUN_STEPS_EXCEEDED',
    message: expect.stringMatching(
      /took 500 steps .* goes round in "StringTransform:(.)" -> "StringTransform:(.)" -> "StringTransform:\1"/,
    ),
  });
});

it('leave their turns to other runs', async () => {
  const server = await startServer({ env: { RUNNEL_MAX_STEPS: '1000000000' } });
  const [agent, quiet] = [await server.agent(ENDLESS), await server.agent(ECHO)];
  const path = `${server.url}/api/v1/agents/${agent}`;
  const endless = await openStream(`${path}/stream`, { body: {} });
  for (let at = 0; at < 5; at += 1) {
    const frames = await (
      await openStream(`${server.url}/api/v1/agents/${quiet}/stream`, { body: { query: 'x' } })
    ).rest();
    expect(frames.at(-2)?.json).toMatchObject({ event: 'workflow_finished' });
  }
  const run = String(endless.headers.get('x-run-id'));
  const running = await server.call('GET', `/api/v1/agents/${agent}/runs/${run}`);
  expect(running.body.data).toMatchObject({ status: 'running' });
  await server.call('POST', `/api/v1/agents/${agent}/runs/${run}/cancel`);
});
