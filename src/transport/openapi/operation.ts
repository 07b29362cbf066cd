import { z } from 'zod';

/** What an operation answers with. */
export type AnswerKind =
  /** RAGFlow's envelope around `data`. */
  | 'envelope'
  /** The envelope around one page of a list, with the length of the whole list in `total`. */
  | 'page'
  /** A stream of events, or the envelope when the client does not stream. */
  | 'events'
  | 'openai'
  | 'file'
  | 'text'
  | 'any';

/** Who may call an operation: anyone, keys of the API, also those of chat pages, the administrator. */
export type Access = 'open' | 'key' | 'page' | 'admin';

/** One route, described for people and programs. */
export interface Operation {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Below the prefix of the API, as the router has it: `/agents/:id`. */
  readonly path: string;
  readonly summary: string;
  readonly query?: z.ZodObject;
  /** Of a JSON body. */
  readonly body?: z.ZodType;
  /** The body is multipart, with files in the field `file`. */
  readonly uploads?: boolean;
  /** Whatever the author configured: any type of body. */
  readonly takesAnything?: boolean;
  /** @default 'envelope' */
  readonly answers?: AnswerKind;
  /** What `data` holds in the envelope. */
  readonly data?: z.ZodType;
  /** @default 'key' */
  readonly access?: Access;
}

/** Operations on one kind of thing. */
export interface OperationGroup {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

const text = z.string();

/** Which part of a list. */
export const pageQuery = z.object({
  page: text.optional().describe('From 1; default 1.'),
  page_size: text.optional().describe('At most 100; default 30.'),
});

/** Which part of a list, and in which order. */
export const listQuery = pageQuery.extend({
  orderby: text.optional().describe('Name of a column.'),
  desc: text.optional().describe('"false": ascending; default descending.'),
});

/** Which document a turn or a session is for. */
export const versionQuery = z.object({
  version: text.optional().describe('Id of a version, or "draft".'),
  release: text.optional().describe('"true": only what is published.'),
});
