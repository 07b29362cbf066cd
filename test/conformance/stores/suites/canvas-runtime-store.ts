import { describe, expect, it } from 'vitest';
import type { CanvasRuntimeStore } from '../../../../src/records/canvas-runtimes.js';
import { newTenant } from '../../../stores/support/records.js';

/** What every {@link CanvasRuntimeStore} does. */
export function describeCanvasRuntimeStore(store: () => CanvasRuntimeStore): void {
  describe('CanvasRuntimeStore', () => {
    it('keeps what was chosen for a tenant until it is changed or taken back', async () => {
      const [tenant, other] = [newTenant(), newTenant()];
      expect(await store().find(tenant)).toBeUndefined();
      await store().save(tenant, 'go');
      await store().save(tenant, 'python');
      expect(await store().find(tenant)).toBe('python');
      expect(await store().find(other)).toBeUndefined();
      await store().delete(tenant);
      await store().delete(tenant);
      expect(await store().find(tenant)).toBeUndefined();
    });
  });
}
