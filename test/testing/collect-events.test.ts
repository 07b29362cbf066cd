import { throwError } from 'rxjs';
import { expect, it } from 'vitest';
import { planOf, run } from '../../src/entries/engine.js';
import { collectEvents } from '../../src/entries/testing.js';

it('gives the events of a run when it is over', async () => {
  const events = await collectEvents(run(planOf({ a: () => ({ text: 'hi' }) }), { input: {} }));
  expect(events.map(({ type }) => type)).toEqual(['run-started', 'node-started', 'node-settled', 'run-settled']);
});

it('rejects with the error of the stream', async () => {
  await expect(collectEvents(throwError(() => new Error('broken')))).rejects.toThrow('broken');
});
