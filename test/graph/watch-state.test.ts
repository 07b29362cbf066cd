import { lastValueFrom, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { planOf } from '../../src/graph/build.js';
import { run } from '../../src/graph/run.js';
import type { State } from '../../src/graph/state.js';

describe('the state of a run as a stream', () => {
  const plan = planOf({ a: () => ({ value: 1 }), b: () => ({ value: 2 }) });

  it('begins with the current state, follows every settlement, and completes with the run', async () => {
    const seen: State[] = [];
    let isComplete = false;
    const watch = (state$: Observable<State>) => {
      state$.subscribe({
        next: (state) => seen.push(state),
        complete: () => {
          isComplete = true;
        },
      });
    };
    await lastValueFrom(run(plan, { input: {} }, { watch }));
    expect(seen.map(({ step }) => step)).toEqual([0, 1, 2]);
    expect(isComplete).toBe(true);
  });

  it('gives values that later settlements do not change', async () => {
    const seen: State[] = [];
    await lastValueFrom(run(plan, { input: {} }, { watch: (state$) => state$.subscribe((state) => seen.push(state)) }));
    const outputsOf = ({ cells }: State) => [cells.get(0), cells.get(1)];
    expect(seen.map(outputsOf)).toEqual([
      [undefined, undefined],
      [{ value: 1 }, undefined],
      [{ value: 1 }, { value: 2 }],
    ]);
  });
});
