/** Files of users and files that components make: as a run has them, and as they are stored. */
import type { Readable } from 'node:stream';
import type { FileUsage } from './quotas.js';

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
  /** It came from a caller who may be anyone, a chat page or a webhook, and counts against the quota of those, too. @default false */
  readonly isFromPage?: boolean;
  /** It stays until it is deleted, however old it is and however little room there is. @default false */
  readonly isKept?: boolean;
}

/** What is known about a file beside its bytes. */
export type FileAbout = Omit<FileRecord, 'bytes'>;

/** Bytes of a file that is being received. None of them can be found before the file is stored. */
export interface FileDraft {
  /** How many bytes there are. */
  readonly size: number;
  /**
   * Adds bytes, which must not change before the promise resolves.
   *
   * @throws EngineError LIMIT_REACHED when the file is larger than this store takes, or (HTTP 507) the disk is full.
   */
  write(bytes: Uint8Array): Promise<void>;
  /** Deletes the bytes. Does nothing when the file was stored. */
  discard(): Promise<void>;
}

/** A file whose bytes were received as a draft of the same store. */
export interface DraftedFile {
  readonly about: FileAbout;
  readonly draft: FileDraft;
}

/** A stored file that is read piece by piece. */
export interface OpenedFile {
  readonly about: FileAbout;
  readonly size: number;
  /** Opens the bytes; the caller reads them to their end or destroys them. */
  read(): Readable;
}

/** Where files are stored, by tenant. */
export interface FileStore {
  /** Inserts or replaces. @throws EngineError QUOTA_EXCEEDED; LIMIT_REACHED when the store or (HTTP 507) the disk is full. */
  save(tenant: string, file: FileRecord): Promise<void>;
  /** Begins a file whose bytes come piece by piece; its owner ends it by `saveDrafts` or `discard`. */
  draft(): FileDraft;
  /** Stores files, all or none; in the latter case the drafts are as they were. @throws EngineError as `save` */
  saveDrafts(tenant: string, files: readonly DraftedFile[]): Promise<void>;
  /**
   * Refuses now what would be refused later: files that take so much. What has expired makes room.
   *
   * @throws EngineError QUOTA_EXCEEDED
   */
  requireRoom(tenant: string, added: FileUsage): Promise<void>;
  find(tenant: string, id: string): Promise<FileRecord | undefined>;
  /** Finds a file whose bytes are read piece by piece. @throws EngineError as `find` */
  open(tenant: string, id: string): Promise<OpenedFile | undefined>;
  /** Whether there was one. */
  delete(tenant: string, id: string): Promise<boolean>;
}
