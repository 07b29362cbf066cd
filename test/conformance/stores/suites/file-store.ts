import { describe, expect, it } from 'vitest';
import type { FileRecord, FileStore } from '../../../../src/records/files.js';
import { newId, newTenant } from '../../../stores/support/records.js';

/** What every {@link FileStore} does. */
export function describeFileStore(store: () => FileStore): void {
  const file = (change: Partial<FileRecord> = {}): FileRecord => ({
    id: newId(),
    name: 'report.pdf',
    mimeType: 'application/pdf',
    bytes: Uint8Array.of(0, 1, 2, 255),
    createdAt: 1_000,
    ...change,
  });
  const found = async (tenant: string, id: string): Promise<object | undefined> => {
    const record = await store().find(tenant, id);
    return record === undefined ? undefined : { ...record, bytes: [...record.bytes] };
  };

  describe('FileStore', () => {
    it.each([
      ['some bytes', {}],
      ['no bytes', { bytes: new Uint8Array() }],
      ['a name that leads elsewhere', { name: '../../etc/passwd' }],
      ['an id that leads elsewhere', { id: `../${newId()}/../x` }],
    ])('gives back a file with %s', async (_name, change) => {
      const tenant = newTenant();
      const saved = file(change);
      await store().save(tenant, saved);
      expect(await found(tenant, saved.id)).toEqual({ ...saved, bytes: [...saved.bytes] });
    });

    it('opens a file whose bytes are read piece by piece', async () => {
      const tenant = newTenant();
      const { bytes, ...about } = file({ bytes: new Uint8Array(200_000).fill(7) });
      await store().save(tenant, { ...about, bytes });
      const opened = await store().open(tenant, about.id);
      expect(opened).toMatchObject({ about, size: 200_000 });
      expect(Buffer.concat((await opened?.read().toArray()) ?? []).equals(bytes)).toBe(true);
      expect(await store().open(newTenant(), about.id)).toBeUndefined();
      await store().save(tenant, file({ id: 'over', expiresAt: Date.now() - 1 }));
      expect(await store().open(tenant, 'over')).toBeUndefined();
    });

    it('replaces a file', async () => {
      const tenant = newTenant();
      const first = file();
      await store().save(tenant, first);
      await store().save(tenant, { ...first, name: 'new.txt', bytes: Uint8Array.of(9) });
      expect(await found(tenant, first.id)).toEqual({ ...first, name: 'new.txt', bytes: [9] });
    });

    it('gives nobody the file of another tenant', async () => {
      const [mine, theirs] = [newTenant(), newTenant()];
      const saved = file();
      await store().save(mine, saved);
      expect(await found(theirs, saved.id)).toBeUndefined();
      await store().save(theirs, { ...saved, bytes: Uint8Array.of(7) });
      expect(await found(mine, saved.id)).toEqual({ ...saved, bytes: [...saved.bytes] });
    });
  });
}
