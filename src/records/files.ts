/** Files of users and files that components make: as a run has them, and as they are stored. */

/** A file that a run refers to. */
export interface StoredFile {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** Where files of users and files made by components are stored; already bound to one tenant. */
export interface Files {
  /** Undefined when there is no such file. */
  read(id: string): Promise<StoredFile | undefined>;
  /** Stores a file, until `expiresAt` (milliseconds since 1970) where that is given, and gives its id. */
  save(file: Omit<StoredFile, 'id'> & { readonly expiresAt?: number }): Promise<string>;
}

/** Media types by ending, for what clients store and display. */
export const MEDIA_TYPES = {
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  doc: 'application/msword',
  pdf: 'application/pdf',
  csv: 'text/csv',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ppt: 'application/vnd.ms-powerpoint',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  txt: 'text/plain',
  md: 'text/markdown',
  html: 'text/html',
  json: 'application/json',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  bmp: 'image/bmp',
  tiff: 'image/tiff',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  ico: 'image/x-icon',
  avif: 'image/avif',
  heic: 'image/heic',
} as const;

/** A file of a user, or one that a component made. */
export interface FileRecord extends StoredFile {
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Names the key of a chat page that uploaded it, or in whose sessions it was made; absent: no page did. */
  readonly page?: string;
  /** From when on it counts as deleted, in milliseconds since 1970. @default never */
  readonly expiresAt?: number;
}

export interface FileStore {
  /** @throws EngineError LIMIT_REACHED when the store is full. */
  save(tenant: string, file: FileRecord): Promise<void>;
  find(tenant: string, id: string): Promise<FileRecord | undefined>;
}
