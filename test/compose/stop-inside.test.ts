/** A run that one of its own steps asks to stop. */
import { Subject } from 'rxjs';
import { expect, it } from 'vitest';
import { chain, defineState, type EngineError, graph, invoke, resumeFrom } from '../../src/index.js';

it('keeps the end of a step that asks for the stop and ends at once', async () => {
  const Count = defineState('count', () => ({ steps: [] as string[] }));
  const cancel$ = new Subject<{ readonly mode: 'after-step' }>();
  let asked = 0;
  const counted = graph<string, readonly string[]>(
    'counted',
    (g) => {
      const both = g.node(
        'both',
        chain(
          (text: string, at) => {
            at.state(Count).append('steps', text);
            asked += 1;
            cancel$.next({ mode: 'after-step' });
            return text;
          },
          (_, at) => at.state(Count).value.steps,
        ),
      );
      g.edge(g.start, both);
      g.edge(both, g.end);
    },
    { state: Count },
  );
  const stopped = (await invoke(counted, 'once', { cancel$ }).catch((error: unknown) => error)) as EngineError;
  expect(stopped.code).toBe('RUN_CANCELLED');
  const { checkpoint } = stopped.details as { readonly checkpoint: never };
  expect(await invoke(counted, resumeFrom(checkpoint))).toEqual(['once']);
  expect(asked).toBe(1);
});
