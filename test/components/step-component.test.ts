import { from, lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { loadCanvas } from '../../src/canvas/load-canvas.js';
import { converse } from '../../src/canvas/turn.js';
import { createRegistry } from '../../src/components/component.js';
import { components } from '../../src/components/index.js';
import { componentOf } from '../../src/components/step-component.js';
import { chain } from '../../src/compose/chain.js';
import { ask, step } from '../../src/compose/steps.js';
import type { RunEvent } from '../../src/graph/events.js';

const node = (name: string, params: object, downstream: string[], upstream: string[]) => ({
  obj: { component_name: name, params },
  downstream,
  upstream,
});

const params = z.looseObject({ text: z.string() });

function canvasWith(component: ReturnType<typeof componentOf>) {
  const registry = createRegistry([...components, component]);
  return loadCanvas(
    {
      components: {
        begin: node('Begin', {}, ['Step:A'], []),
        'Step:A': node(component.type, { text: 'to {sys.query}' }, ['Message:M'], ['begin']),
        'Message:M': node('Message', { content: ['got {Step:A@result}'] }, [], ['Step:A']),
      },
    },
    { registry },
  );
}

async function eventsOf(
  component: ReturnType<typeof componentOf>,
  turns: Parameters<typeof converse>[1],
): Promise<readonly RunEvent[]> {
  return lastValueFrom(converse(canvasWith(component), turns).pipe(toArray()));
}

const spoken = (events: readonly RunEvent[], id: string) =>
  events.flatMap((event) => (event.type === 'node-delta' && event.node === id ? [event.text] : []));

describe('a step as a component', () => {
  it('gets the parameters with their references replaced, and gives its result as an output', async () => {
    const loud = componentOf(
      step('loud', ({ text }: { text: string }) => text.toUpperCase()),
      { type: 'Loud', params },
    );
    const events = await eventsOf(loud, [{ query: 'Oslo' }]);
    expect(spoken(events, 'Message:M').join('')).toBe('got TO OSLO');
  });

  it('gives its chunks of text live', async () => {
    const letters = componentOf(
      chain(({ text }: { text: string }) => from([...text])),
      { type: 'Letters', params },
    );
    const events = await eventsOf(letters, [{ query: 'x' }]);
    expect(spoken(events, 'Step:A')).toEqual(['t', 'o', ' ', 'x']);
    expect(spoken(events, 'Message:M').join('')).toBe('got to x');
  });

  it('asks the questions of its step, and goes on with the answer of the next turn', async () => {
    const checked = chain(
      ({ text }: { text: string }) => text,
      ask(z.enum(['yes', 'no']), (text: string) => `Really ${text}?`),
      (answer) => `said ${answer}`,
    );
    const events = await eventsOf(componentOf(checked, { type: 'Check', params }), [
      { query: 'go' },
      { inputs: { ask: 'yes' } },
    ]);
    const waiting = events.find((event) => event.type === 'run-interrupted');
    expect(waiting?.pending[0]?.payload).toEqual({
      kind: 'step',
      questions: [{ address: 'ask', question: 'Really to go?' }],
    });
    expect(spoken(events, 'Message:M').join('')).toBe('got said yes');
  });

  it('fails its node as the step fails', async () => {
    const broken = componentOf(
      step('broken', () => {
        throw new TypeError('no such thing');
      }),
      { type: 'Broken', params },
    );
    const events = await eventsOf(broken, [{ query: 'x' }]);
    expect(events.at(-1)).toMatchObject({
      type: 'run-failed',
      error: { code: 'NODE_FAILED', message: 'no such thing' },
    });
  });
});
