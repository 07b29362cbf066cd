import { describe, expect, it } from 'vitest';
import type { SharedStates } from '../../../../src/records/shared-states.js';
import { newId } from '../../../stores/support/records.js';

/** What every {@link SharedStates} does; `there` is the same store as another process has it. */
export function describeSharedStates(here: () => SharedStates, there: () => SharedStates = here): void {
  describe('SharedStates', () => {
    it('has nothing of a name that was never written', async () => {
      expect(await here().read([newId(), newId()])).toEqual(new Map());
      expect(await here().read([])).toEqual(new Map());
      const name = newId();
      expect(await here().replace(name, 3, { a: 1 })).toEqual({ isMine: false, stored: { version: 0, state: {} } });
      expect(await here().read([name])).toEqual(new Map());
    });

    it('stores what is written over the version that was read, and counts versions', async () => {
      const [name, other] = [newId(), `${newId()}:ü#{}"'`];
      const state = { list: [[1, 2, 3]], text: 'ü"\n', none: null };
      expect(await here().replace(name, 0, { a: 1 })).toEqual({
        isMine: true,
        stored: { version: 1, state: { a: 1 } },
      });
      expect(await here().replace(name, 1, state)).toEqual({ isMine: true, stored: { version: 2, state } });
      await here().replace(other, 0, {});
      const all = await there().read([name, newId(), other]);
      expect([...all].sort()).toEqual(
        [
          [name, { version: 2, state }],
          [other, { version: 1, state: {} }],
        ].sort(),
      );
    });

    it('gives what is stored in place of writing over another version', async () => {
      const name = newId();
      await here().replace(name, 0, { by: 'here' });
      const stored = { version: 1, state: { by: 'here' } };
      expect(await there().replace(name, 0, { by: 'there' })).toEqual({ isMine: false, stored });
      expect(await there().replace(name, 2, { by: 'there' })).toEqual({ isMine: false, stored });
      expect((await here().read([name])).get(name)).toEqual(stored);
    });

    it('lets one of many win that write at once, and loses no write of those that try again', async () => {
      const name = newId();
      const add = async (store: SharedStates): Promise<void> => {
        let { version, state } = (await store.read([name])).get(name) ?? { version: 0, state: {} };
        for (;;) {
          const answer = await store.replace(name, version, { count: Number(state.count ?? 0) + 1 });
          if (answer.isMine) return;
          ({ version, state } = answer.stored);
        }
      };
      await Promise.all(Array.from({ length: 20 }, (_, at) => add(at % 2 === 0 ? here() : there())));
      expect((await there().read([name])).get(name)).toEqual({ version: 20, state: { count: 20 } });
    });
  });
}
