import type { Files, StoredFile } from '../../src/components/services.js';

/** A file of a test: bytes, or text. */
type TestFile = Omit<StoredFile, 'bytes'> & ({ readonly bytes: Uint8Array } | { readonly text: string });

/** Services with a store of some files, which keeps nothing. */
export function storeOf(...files: readonly TestFile[]): { readonly files: Files } {
  const byId = new Map(files.map((file) => [file.id, file]));
  return {
    files: {
      read: async (id) => {
        const file = byId.get(id);
        if (file === undefined) return undefined;
        const { name, mimeType } = file;
        return { id, name, mimeType, bytes: 'bytes' in file ? file.bytes : new TextEncoder().encode(file.text) };
      },
      save: async () => 'unused',
    },
  };
}
