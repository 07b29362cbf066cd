/** Downloads: read from the store while they are sent. */
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FileStore } from '../../../src/records/files.js';
import { createFilesOnDisk, type FileEntry } from '../../../src/stores/files-on-disk.js';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';
import { temporaryFolder } from '../../stores/support/temporary-folder.js';
import { startServer } from '../support/server.js';

const FILE = { id: 'f', name: 'f.txt', mimeType: 'text/plain', createdAt: 1 };

describe('a download', () => {
  it('is read no faster than its client reads it, and not at all when that leaves', async () => {
    const memory = createMemoryStores();
    const state = { read: 0, isOver: false };
    const size = 60 * 1024 ** 2;
    const files: FileStore = {
      ...memory.files,
      find: () => Promise.reject(new Error('The whole file would be in memory.')),
      open: async () => ({
        about: FILE,
        size,
        read: () =>
          new Readable({
            read() {
              const piece = Math.min(65_536, size - state.read);
              state.read += piece;
              this.push(piece === 0 ? null : Buffer.alloc(piece));
            },
            destroy(error, done) {
              state.isOver = true;
              done(error);
            },
          }),
      }),
    };
    const { url } = await startServer({ stores: { ...memory, files } });
    const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
    onTestFinished(() => void socket.destroy());
    socket.write('GET /api/v1/agents/attachments/f/download HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await vi.waitFor(() => expect(state.read).toBeGreaterThan(0), 20_000);
    // Until the buffers between server and client are full.
    for (let before = -1; before !== state.read; ) {
      before = state.read;
      for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
    }
    expect(state.read).toBeLessThan(size / 2);
    socket.destroy();
    await vi.waitFor(() => expect(state.isOver).toBe(true), 20_000);

    const whole = await fetch(`${url}/api/v1/agents/download?id=f`);
    expect(whole.headers.get('content-length')).toBe(String(size));
    expect(whole.headers.get('content-type')).toBe('application/octet-stream');
  });

  it('has the bytes that lie on disk, and says when they are not all there', async () => {
    const entries = new Map<string, FileEntry>();
    const folder = await temporaryFolder();
    const index = {
      put: async (_: string, given: readonly FileEntry[]) => {
        for (const entry of given) entries.set(entry.id, entry);
        return [];
      },
      find: async (_: string, id: string) => entries.get(id),
      delete: async () => undefined,
      deleteExpired: async () => [],
      requireRoom: async () => {},
      unknownPaths: async () => [],
    };
    const files = createFilesOnDisk({ folder, index });
    const { call } = await startServer({ stores: { ...createMemoryStores(), files } });
    const get = (id: string) => call('GET', `/api/v1/agents/attachments/${id}/download`);
    await files.save('local', { ...FILE, bytes: Buffer.from('hello') });
    await files.save('local', { ...FILE, id: 'old', bytes: Buffer.from('hello'), expiresAt: 1 });
    const sent = await get('f');
    expect([sent.body, sent.headers.get('content-length')]).toEqual(['hello', '5']);
    expect((await get('old')).body.code).toBe(102);
    entries.set('f', { ...(entries.get('f') as FileEntry), size: 6 });
    expect((await get('f')).body).toMatchObject({ code: 102, message: expect.stringContaining('6 bytes on disk') });
  });
});
