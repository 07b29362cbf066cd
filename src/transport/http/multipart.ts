/** Bodies of type multipart/form-data (RFC 7578), read piece by piece. */
import type { IncomingMessage } from 'node:http';
import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';

/** What is said about a part before its content. */
export interface PartHead {
  /** Of the field. */
  readonly field: string;
  /** Without folders; empty where no file was chosen, absent from parts that are no files. */
  readonly fileName?: string;
  readonly mimeType: string;
}

/** Receives the content of a part; the next piece comes when the promise has resolved. */
export type PartSink = (bytes: Buffer) => Promise<void> | void;

export interface PartLimits {
  /** Of the body. */
  readonly maxBytes: number;
  /** Parts that are files. */
  readonly maxFiles: number;
  /** The error of a body that has `bytes` or more. @default BODY_TOO_LARGE */
  readonly tooLarge?: (bytes: number) => Error;
  /** Called with the size of each piece of the body before it is read; what it throws ends the reading. */
  readonly onBytes?: (bytes: number) => void;
}

/** Parts that are no files. */
const MAX_FIELDS = 10_000;

/** Headers of one part, in bytes. */
const MAX_HEAD_BYTES = 16 * 1024;

/** Blanks between a boundary and the end of its line. */
const MAX_PADDING = 256;

const DASH = '-'.charCodeAt(0);
const LINE_END = Buffer.from('\r\n');
const HEAD_END = Buffer.from('\r\n\r\n');

/** Whether a request says that its body is multipart. */
export function isMultipart({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return /^multipart\/form-data\b/i.test(headers['content-type'] ?? '');
}

/**
 * Reads a multipart body in its order, no faster than its sinks take it. `open` gives the sink of a part, or nothing for one whose content is
 * left out.
 *
 * @throws EngineError BODY_TOO_LARGE, BAD_REQUEST when the body is not what its header says, has too many parts or breaks off; what `open`, the
 * sinks and `onBytes` throw.
 */
export async function readParts(
  request: IncomingMessage,
  limits: PartLimits,
  open: (head: PartHead) => PartSink | undefined,
): Promise<void> {
  const { maxBytes, onBytes } = limits;
  const tooLarge = limits.tooLarge ?? (() => bodyTooLarge(maxBytes));
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) throw tooLarge(announced);
  const parser = new MultipartParser(boundaryOf(request), limits.maxFiles);
  let sink: PartSink | undefined;
  let bytes = 0;
  try {
    // Leaving the loop must not destroy the socket, and with it the answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge(bytes);
      onBytes?.(chunk.length);
      for (const piece of parser.push(chunk)) {
        if (Buffer.isBuffer(piece)) await sink?.(piece);
        else sink = open(piece);
      }
    }
  } catch (error) {
    throw isBrokenOff(error) ? badArgument('The upload broke off.') : error;
  }
  if (!parser.isComplete) throw notMultipart();
}

function isBrokenOff(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return (
    !EngineError.is(error) && ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'].includes(code ?? '')
  );
}

function bodyTooLarge(maxBytes: number): EngineError {
  return new EngineError('BODY_TOO_LARGE', `request body too large. At most ${maxBytes} bytes are taken.`);
}

function notMultipart(): EngineError {
  return badArgument('The body is not valid multipart/form-data.');
}

/** @throws EngineError BAD_REQUEST for a header without one. */
function boundaryOf({ headers }: IncomingMessage): string {
  const match = /;\s*boundary=(?:"([^"\r\n]{1,200})"|([^\s;"]{1,200}))/i.exec(headers['content-type'] ?? '');
  const boundary = match?.[1] ?? match?.[2];
  if (boundary === undefined) throw notMultipart();
  return boundary;
}

/** Splits a body at its boundaries. What may be the begin of a boundary waits for the next chunk, no more. */
class MultipartParser {
  readonly #delimiter: Buffer;
  readonly #maxFiles: number;
  #state: 'preamble' | 'boundary' | 'head' | 'content' | 'complete' = 'preamble';
  /** What was not understood yet. A boundary at the very beginning has no line before it. */
  #rest: Buffer = LINE_END;
  #decoder: Base64Decoder | undefined;
  #files = 0;
  #fields = 0;

  constructor(boundary: string, maxFiles: number) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
    this.#maxFiles = maxFiles;
  }

  get isComplete(): boolean {
    return this.#state === 'complete';
  }

  /** Heads of parts, each followed by the pieces of its content. @throws EngineError BAD_REQUEST */
  *push(chunk: Buffer): Generator<PartHead | Buffer> {
    let buffer = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      switch (this.#state) {
        case 'preamble':
        case 'content': {
          const at = buffer.indexOf(this.#delimiter);
          const end = at === -1 ? Math.max(0, buffer.length - this.#delimiter.length + 1) : at;
          if (this.#state === 'content' && end > 0) yield* this.#content(buffer.subarray(0, end));
          buffer = buffer.subarray(at === -1 ? end : at + this.#delimiter.length);
          if (at !== -1) this.#state = 'boundary';
          else return this.#keep(buffer);
          break;
        }
        case 'boundary': {
          const rest = this.#afterBoundary(buffer);
          if (rest === undefined) return this.#keep(buffer);
          buffer = rest;
          break;
        }
        case 'head': {
          const end = buffer.indexOf(HEAD_END);
          if (end > MAX_HEAD_BYTES || (end === -1 && buffer.length > MAX_HEAD_BYTES)) throw notMultipart();
          if (end === -1) return this.#keep(buffer);
          yield this.#head(buffer.toString('utf8', LINE_END.length, Math.max(LINE_END.length, end)));
          buffer = buffer.subarray(end + HEAD_END.length);
          this.#state = 'content';
          // A part without content ends with the line end that its head ends with.
          break;
        }
        case 'complete':
          this.#rest = Buffer.alloc(0);
          return;
      }
    }
  }

  #keep(rest: Buffer): void {
    this.#rest = rest;
  }

  /** What follows a boundary, the end of its line included; undefined when that is not there yet. */
  #afterBoundary(buffer: Buffer): Buffer | undefined {
    if (buffer.length < 2) return undefined;
    if (buffer[0] === DASH && buffer[1] === DASH) {
      this.#state = 'complete';
      return buffer.subarray(2);
    }
    const end = buffer.indexOf(LINE_END);
    const padding = buffer.toString('latin1', 0, end === -1 ? Math.min(buffer.length, MAX_PADDING + 1) : end);
    if (padding.length > MAX_PADDING || padding.trim() !== '') throw notMultipart();
    if (end === -1) return undefined;
    this.#state = 'head';
    return buffer.subarray(end);
  }

  *#content(bytes: Buffer): Generator<Buffer> {
    const decoded = this.#decoder === undefined ? bytes : this.#decoder.decode(bytes);
    if (decoded.length > 0) yield decoded;
  }

  #head(text: string): PartHead {
    const headers = new Map<string, string>();
    for (const line of text.split('\r\n')) {
      const colon = line.indexOf(':');
      if (colon === -1) throw notMultipart();
      headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
    }
    const disposition = headers.get('content-disposition') ?? '';
    const field = parameterOf(disposition, 'name');
    if (!/^form-data\s*;/i.test(disposition) || field === undefined) throw notMultipart();
    this.#decoder = /^base64$/i.test(headers.get('content-transfer-encoding') ?? '') ? new Base64Decoder() : undefined;
    const fileName = extendedParameterOf(disposition, 'filename') ?? parameterOf(disposition, 'filename');
    this.#count(fileName !== undefined);
    const mimeType = headers.get('content-type')?.toLowerCase() || 'text/plain';
    return { field, mimeType, ...(fileName !== undefined && { fileName: baseName(fileName) }) };
  }

  #count(isFile: boolean): void {
    if (isFile) this.#files += 1;
    else this.#fields += 1;
    if (this.#files > this.#maxFiles) throw badArgument(`At most ${this.#maxFiles} files are taken at once.`);
    if (this.#fields > MAX_FIELDS) throw badArgument(`At most ${MAX_FIELDS} fields are taken at once.`);
  }
}

/** A parameter of a header, with what browsers escape in it. */
function parameterOf(header: string, name: string): string | undefined {
  const match = new RegExp(`;\\s*${name}=(?:"((?:\\\\"|[^"])*)"|([^\\s;"]*))`, 'i').exec(header);
  const value = match?.[1] ?? match?.[2];
  return value
    ?.replaceAll('\\"', '"')
    .replace(/%(22|0D|0A)/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** The form of a parameter that some clients send for names beyond ASCII (RFC 5987). */
function extendedParameterOf(header: string, name: string): string | undefined {
  const match = new RegExp(`;\\s*${name}\\*=utf-8'[^']*'([^\\s;]*)`, 'i').exec(header);
  try {
    return match?.[1] === undefined ? undefined : decodeURIComponent(match[1]);
  } catch {
    return undefined;
  }
}

/** Some clients send a whole path. */
function baseName(name: string): string {
  return name.split(/[/\\]/).at(-1) ?? '';
}

/** Decodes base64 that comes in pieces of any length. */
class Base64Decoder {
  #rest = '';

  decode(bytes: Buffer): Buffer {
    const text = this.#rest + bytes.toString('latin1').replace(/[^A-Za-z0-9+/=]/g, '');
    const whole = text.length - (text.length % 4);
    this.#rest = text.slice(whole);
    return Buffer.from(text.slice(0, whole), 'base64');
  }
}
