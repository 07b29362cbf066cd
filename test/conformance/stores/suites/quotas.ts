import { describe, expect, it } from 'vitest';
import type { FileRecord, FileStore } from '../../../../src/records/files.js';
import type { QuotaName, UsageStore } from '../../../../src/records/quotas.js';
import type { KeyPair } from '../../../../src/records/tokens.js';
import { agentRecord, newId, newTenant, sessionRecord, versionRecord } from '../../../stores/support/records.js';
import type { AllStores } from './all-stores.js';

/** What a tenant may have in the stores that are given to the suite. */
export const SMALL_QUOTAS = {
  agents: 12,
  versions: 12,
  tokens: 12,
  files: 12,
  fileBytes: 300_000,
  pageFiles: 3,
  pageFileBytes: 100,
} as const satisfies Partial<Record<QuotaName, number>>;

/** What stores with quotas have; `there` is what another process has of them. */
export interface QuotaSubject {
  readonly stores: Pick<AllStores, 'agents' | 'versions' | 'tokens' | 'files' | 'sessions'> & {
    readonly usage: UsageStore;
  };
  readonly there: { readonly agents: AllStores['agents']; readonly files: FileStore };
}

/** How stores bound what a tenant has of each kind. */
export function describeQuotas(subject: () => QuotaSubject): void {
  const stores = () => subject().stores;
  const file = (change: Partial<FileRecord> = {}): FileRecord => ({
    id: newId(),
    name: 'report.pdf',
    mimeType: 'application/pdf',
    bytes: new Uint8Array(10),
    createdAt: 1_000,
    ...change,
  });
  const token = (): KeyPair => ({ token: `token-${newId()}`, beta: `beta-${newId()}`, createdAt: 1_000 });
  const exceeded = (name: QuotaName, used: number, limit: number) =>
    expect.objectContaining({ code: 'QUOTA_EXCEEDED', details: { quota: { name, used, limit } } });
  const codes = (results: readonly PromiseSettledResult<unknown>[]) =>
    results.flatMap((result) => (result.status === 'rejected' ? [(result.reason as { code: string }).code] : []));

  describe('quotas', () => {
    it.each([
      [
        'agents',
        async (tenant: string) => {
          const record = agentRecord();
          return {
            insert: () => stores().agents.insert(tenant, record),
            remove: () => stores().agents.delete(tenant, record.id),
          };
        },
      ],
      [
        'tokens',
        async (tenant: string) => {
          const record = token();
          return {
            insert: () => stores().tokens.insert(tenant, record),
            remove: () => stores().tokens.delete(tenant, record.token),
          };
        },
      ],
      [
        'versions',
        async (tenant: string) => {
          const agent = (await stores().agents.find(tenant, 'one')) ?? agentRecord({ id: 'one' });
          await stores()
            .agents.insert(tenant, agent)
            .catch(() => {});
          const record = versionRecord('one');
          return {
            insert: () => stores().versions.insert(tenant, record),
            remove: () => stores().versions.delete(tenant, record.id),
          };
        },
      ],
    ] as const)(
      'bound the %s of a tenant, also of those inserted at once, and count what is deleted',
      async (name, make) => {
        const tenant = newTenant();
        const limit = SMALL_QUOTAS[name];
        const made = await Promise.all(Array.from({ length: limit + 5 }, () => make(tenant)));
        const results = await Promise.allSettled(made.map(({ insert }) => insert()));
        expect(codes(results)).toEqual(Array(5).fill('QUOTA_EXCEEDED'));
        const one = await make(tenant);
        await expect(one.insert()).rejects.toEqual(exceeded(name, limit, limit));
        await made[results.findIndex(({ status }) => status === 'fulfilled')]?.remove();
        await one.insert();
        await expect((await make(tenant)).insert()).rejects.toEqual(exceeded(name, limit, limit));
        // What is there already says so, with and without room.
        await expect(one.insert()).rejects.toMatchObject({
          code: expect.stringMatching(/^(CONFLICT|QUOTA_EXCEEDED)$/),
        });
        await (await make(newTenant())).insert();
      },
    );

    it('forget the versions of an agent with the agent', async () => {
      const tenant = newTenant();
      for (let round = 0; round < 2; round += 1) {
        await stores().agents.insert(tenant, agentRecord({ id: 'one' }));
        const records = Array.from({ length: SMALL_QUOTAS.versions }, () => versionRecord('one'));
        for (const record of records) await stores().versions.insert(tenant, record);
        await stores().versions.deleteOf(tenant, 'one');
        await stores().agents.delete(tenant, 'one');
      }
      expect(await stores().usage.of(tenant)).toMatchObject({ agents: 0 });
    });

    it('bound the number of files, with those of other processes', async () => {
      const tenant = newTenant();
      const stored = [stores().files, subject().there.files];
      const files = Array.from({ length: SMALL_QUOTAS.files + 4 }, () => file());
      const results = await Promise.allSettled(files.map((one, at) => (stored[at % 2] as FileStore).save(tenant, one)));
      expect(codes(results)).toEqual(Array(4).fill('QUOTA_EXCEEDED'));
      expect(await stores().usage.of(tenant)).toMatchObject({
        files: SMALL_QUOTAS.files,
        fileBytes: 10 * SMALL_QUOTAS.files,
      });
      const [first] = files.filter((_, at) => results[at]?.status === 'fulfilled');
      // What takes the place of another one needs no room.
      await stores().files.save(tenant, { ...(first as FileRecord), bytes: new Uint8Array(20) });
      expect(await stores().usage.of(tenant)).toMatchObject({ fileBytes: 10 * SMALL_QUOTAS.files + 10 });
      expect(await stores().files.delete(tenant, first?.id as string)).toBe(true);
      expect(await stores().files.delete(tenant, first?.id as string)).toBe(false);
      await stores().files.save(tenant, file());
    });

    it('bound the bytes of files to the last one', async () => {
      const tenant = newTenant();
      const limit = SMALL_QUOTAS.fileBytes;
      const half = () => file({ bytes: new Uint8Array(limit / 2) });
      const results = await Promise.allSettled([half(), half(), half()].map((one) => stores().files.save(tenant, one)));
      expect(codes(results)).toEqual(['QUOTA_EXCEEDED']);
      await stores().files.save(tenant, file({ bytes: new Uint8Array() }));
      const refused = stores().files.save(tenant, file({ bytes: new Uint8Array(1) }));
      await expect(refused).rejects.toEqual(exceeded('fileBytes', limit, limit));
    });

    it('bound the files of chat pages apart, so that others find room', async () => {
      const tenant = newTenant();
      const fromPage = (bytes: number) => file({ isFromPage: true, bytes: new Uint8Array(bytes) });
      await expect(stores().files.save(tenant, fromPage(101))).rejects.toEqual(exceeded('pageFileBytes', 0, 100));
      for (let count = 0; count < SMALL_QUOTAS.pageFiles; count += 1) await stores().files.save(tenant, fromPage(1));
      await expect(stores().files.save(tenant, fromPage(1))).rejects.toEqual(exceeded('pageFiles', 3, 3));
      await stores().files.save(tenant, file());
      expect(await stores().usage.of(tenant)).toMatchObject({
        files: 4,
        pageFiles: 3,
        fileBytes: 13,
        pageFileBytes: 3,
      });
    });

    it('make room of what has expired', async () => {
      const tenant = newTenant();
      const expired = { isFromPage: true, expiresAt: Date.now() - 1 };
      for (let count = 0; count < SMALL_QUOTAS.pageFiles; count += 1) await stores().files.save(tenant, file(expired));
      await stores().files.save(tenant, file({ isFromPage: true }));
      expect(await stores().usage.of(tenant)).toMatchObject({ pageFiles: 1 });
      const other = newTenant();
      for (let count = 0; count < SMALL_QUOTAS.pageFiles; count += 1) await stores().files.save(other, file(expired));
      const one = { files: 1, fileBytes: 1, pageFiles: 1, pageFileBytes: 1 };
      await stores().files.requireRoom(other, one);
      expect(await stores().usage.of(other)).toMatchObject({ files: 0 });
      const refused = stores().files.requireRoom(other, { ...one, pageFileBytes: 101 });
      await expect(refused).rejects.toEqual(exceeded('pageFileBytes', 0, 100));
    });

    it('take files of one request all or none', async () => {
      const tenant = newTenant();
      const drafted = async (id: string) => {
        const draft = stores().files.draft();
        await draft.write(new Uint8Array(40).fill(7));
        const { bytes: _, ...about } = file({ id, isFromPage: true });
        return { about, draft };
      };
      const three = await Promise.all(['a', 'b', 'c'].map(drafted));
      await expect(stores().files.saveDrafts(tenant, three)).rejects.toEqual(exceeded('pageFileBytes', 0, 100));
      expect(await stores().files.find(tenant, 'a')).toBeUndefined();
      const [first, second, third] = three;
      await third?.draft.discard();
      await stores().files.saveDrafts(tenant, [first as never, second as never]);
      await first?.draft.discard();
      const found = await stores().files.find(tenant, 'a');
      expect({ ...found, bytes: [...(found?.bytes ?? [])] }).toEqual({ ...first?.about, bytes: Array(40).fill(7) });
      expect(await stores().usage.of(tenant)).toMatchObject({ files: 2, fileBytes: 80 });
    });

    it('say how much a tenant has, and the most that one has', async () => {
      const tenant = newTenant();
      const nothing = { agents: 0, tokens: 0, files: 0, fileBytes: 0, pageFiles: 0, pageFileBytes: 0 };
      expect(await stores().usage.of(tenant)).toEqual(nothing);
      const agent = agentRecord();
      await stores().agents.insert(tenant, agent);
      await stores().tokens.insert(tenant, token());
      await stores().sessions.save(tenant, sessionRecord(agent.id));
      await stores().files.save(tenant, file());
      expect(await stores().usage.of(tenant)).toEqual({
        ...nothing,
        agents: 1,
        tokens: 1,
        files: 1,
        fileBytes: 10,
      });
      expect(await stores().usage.sessions(tenant)).toBe(1);
      expect(await stores().usage.sessions(newTenant())).toBe(0);
      const most = await stores().usage.most();
      expect(most.agents).toBeGreaterThanOrEqual(1);
      expect(most.fileBytes).toBeGreaterThanOrEqual(10);
      expect(stores().usage.quotas).toMatchObject(SMALL_QUOTAS);
    });
  });
}
