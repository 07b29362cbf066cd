import { lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { planOf } from '../../src/graph/build.js';
import { execute, run } from '../../src/graph/run.js';

describe('an outcome that nobody can keep', () => {
  const plan = planOf({ a: () => ({ value: 1 }) });
  const whenEnded = () => {
    throw new Error('the disk is full');
  };

  it('is the error of the stream, not a run that never ends', async () => {
    await expect(lastValueFrom(run(plan, { input: {} }, { whenEnded }))).rejects.toThrow('the disk is full');
  });

  it('is the error of a run that nobody watches', async () => {
    await expect(execute(plan, { input: {} }, { whenEnded })).rejects.toThrow('the disk is full');
  });
});
