/**
 * Typed plans: graphs whose edges carry values, and chunks of values while they are made. Plans of canvases have none of this; their
 * nodes read each other by reference.
 *
 * A value goes over each edge when its node settles, and is forgotten with the token that received it. A node that makes chunks *opens* its
 * stream: readers of chunks then start at once, the others get all chunks together when it settles.
 */

import type { Observable } from 'rxjs';
import { EngineError } from '../errors.js';
import type { Json } from '../json.js';
import type { Room } from '../operators/chunk-reader.js';
import type { ChunkStreamOptions } from '../operators/chunk-stream.js';

/** Writes values as JSON, and reads them back equal. */
export interface ValueCodec {
  /**
   * A value as JSON; the same object when it is JSON already.
   *
   * @param path What the value is called in errors. @default '$'
   * @throws EngineError `VALUE_NOT_STORABLE` naming the path, such as `$.input.items[3].at`, and what stands there.
   */
  toJson(value: unknown, path?: string): Json;
  /**
   * The value that `toJson` was given; the same object when there is nothing to restore.
   *
   * @param path What the value is called in errors. @default '$'
   * @throws EngineError `CHECKPOINT_INVALID` naming the path, for a type without a definition and for what its definition refuses.
   */
  fromJson(json: Json, path?: string): unknown;
}

/** What a node of a typed plan does with values. */
export interface TypedNode {
  /** Whether it starts with producers of chunks instead of waiting for their ends. */
  readonly readsChunks: boolean;
  /** Whether nodes without an edge from it read its value. */
  readonly isRead: boolean;
  /** Whether its value is the result of its scope. */
  readonly isResult: boolean;
  /** Whether something reads all of its chunks at its end, or begins to read late. */
  readonly keepsChunks: boolean;
}

/** How the edges behind a node hold chunks. */
export type TypedEdge = Omit<ChunkStreamOptions<unknown>, 'isKept' | 'name'>;

/** A state that every frame of a scope has. */
export interface StateSpec {
  readonly name: string;
  readonly initial: () => unknown;
}

/** What a scope of a typed plan has beside its nodes. */
export interface TypedScope {
  /** Nodes start wave by wave, a wave when all of the one before are done. */
  readonly isLockstep: boolean;
  /** Settlements that one frame may take. */
  readonly maxSteps: number | undefined;
  readonly states: readonly StateSpec[];
  /** Whether nodes of it are read without an edge, so that each frame needs cells of its own. */
  readonly hasReads: boolean;
}

/** The value of a node that gave chunks: all of them, in order. */
export class Chunks {
  readonly items: readonly unknown[];
  /** Whether `items` are all of them: streams that are read while they are made keep none, unless the run may be stored. */
  readonly isWhole: boolean;

  constructor(items: readonly unknown[], isWhole = true) {
    this.items = items;
    this.isWhole = isWhole;
  }
}

/** A value that came over an edge, the newest of a token first. */
export interface Arrival {
  /** Index of the node it came from. */
  readonly from: number;
  value: unknown;
  readonly next: Arrival | undefined;
}

/** The value of an edge whose chunks are still coming. */
export const COMING: unique symbol = Symbol('coming');

/** A value as it is stored: one, or chunks. */
export type StoredValue = { readonly v: Json } | { readonly c: readonly Json[] };

/** @throws EngineError VALUE_NOT_STORABLE */
export function storeValue(codec: ValueCodec, value: unknown, path: string): StoredValue {
  if (value instanceof Chunks && !value.isWhole) {
    const message = `The chunks at ${path} were read while they came and were not kept; give the run "checkpoints", a "log" or "cancel$", and it keeps them.`;
    throw new EngineError('VALUE_NOT_STORABLE', message);
  }
  return value instanceof Chunks
    ? { c: value.items.map((item, at) => codec.toJson(item, `${path}[${at}]`)) }
    : { v: codec.toJson(value, path) };
}

export function readStoredValue(codec: ValueCodec, stored: StoredValue): unknown {
  return 'c' in stored ? new Chunks(stored.c.map((item) => codec.fromJson(item))) : codec.fromJson(stored.v);
}

/** Chunks of an input that comes live. */
export interface ChunkInput {
  /** @param room Whether there is room for more; the source waits while there is none, if it can. */
  toObservable(room: Room): Observable<unknown>;
}

/** Takes the chunks of a result. */
export interface ResultSink {
  /** The result comes in chunks from now on. */
  open(): void;
  write(chunk: unknown): void;
  /** A promise while the producer should not go on. */
  room(): Promise<void> | undefined;
}
