/** A file that a run refers to. */
export interface StoredFile {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** Where files of users and files made by components are kept; already bound to one tenant. */
export interface Files {
  /** Undefined when there is no such file. */
  read(id: string): Promise<StoredFile | undefined>;
  /** Keeps a file, until `expiresAt` (milliseconds since 1970) where that is given, and gives its id. */
  save(file: Omit<StoredFile, 'id'> & { readonly expiresAt?: number }): Promise<string>;
}
