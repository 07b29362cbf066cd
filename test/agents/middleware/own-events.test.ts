/** Events of a middleware of one's own: they stand in the run where they were emitted, once, and outlive a question. */
import { filter, firstValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { agent, defineMiddleware, type HookView } from '../../../src/entries/agents.js';
import { defineTool, type RunEvent, run } from '../../../src/index.js';
import { recordingModel } from './support.js';

const look = defineTool({ name: 'look', description: 'Looks.', run: () => 'seen' });

/** Says in every hook which one it is. */
const telling = defineMiddleware({
  name: 'telling',
  beforeAgent: (_, view) => tell(view, 'beforeAgent'),
  beforeModel: (_, view) => tell(view, 'beforeModel'),
  wrapModel: (request, next, view) => {
    tell(view, 'wrapModel');
    return next(request);
  },
  afterModel: (_, view) => tell(view, 'afterModel'),
  wrapTool: (request, next, view) => {
    tell(view, 'wrapTool');
    return next(request);
  },
  afterTools: (_, view) => tell(view, 'afterTools'),
  afterAgent: (_, view) => tell(view, 'afterAgent'),
});

function tell(view: HookView, hook: string): undefined {
  view.emit('told', { hook, round: view.round });
}

const isTold = (event: RunEvent) => event.type === 'node-notice' && event.name === 'told';

describe('events of a middleware', () => {
  it('come from each of its hooks, in their order, beside those of the agent', async () => {
    const model = recordingModel([{ tool: 'look' }], 'Done.');
    const clerk = agent({ name: 'clerk', model, tools: [look], use: [telling] });
    const events = await firstValueFrom(run(clerk, { input: 'Go.' }).pipe(toArray()));
    const told = events.filter(isTold).map((event) => ('data' in event ? (event.data as { hook: string }).hook : ''));
    const round = ['beforeModel', 'wrapModel', 'afterModel'];
    expect(told).toEqual(['beforeAgent', ...round, 'wrapTool', 'afterTools', ...round, 'afterAgent']);
    const names = events.flatMap((event) => (event.type === 'node-notice' ? [event.name] : []));
    expect(names.filter((name) => name !== 'told')).toEqual([
      'agent-started',
      'round-started',
      'round-started',
      'agent-ended',
    ]);
    expect(names.at(-1)).toBe('agent-ended');
    // The log is in the order of its numbers, and each stands there once.
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });

  it('are live: each comes before what follows its hook', async () => {
    const model = recordingModel('Done.');
    const clerk = agent({ name: 'clerk', model, use: [telling] });
    const heard: number[] = [];
    const last = await firstValueFrom(
      run(clerk, { input: 'Go.' }).pipe(
        filter((event) => {
          if (isTold(event)) heard.push(model.requests.length);
          return event.type === 'run-settled';
        }),
      ),
    );
    expect(last.type).toBe('run-settled');
    // beforeAgent, beforeModel and wrapModel before the model is asked; afterModel and afterAgent behind it.
    expect(heard).toEqual([0, 0, 0, 1, 1]);
  });
});
