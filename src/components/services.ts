/** What components ask of the process around a run; handed to `run` as `services`. */
import { EngineError } from '../errors.js';
import type { Activation } from '../graph/component.js';
import type { JsonObject } from '../json.js';
import type { Models } from '../models/router.js';
import type { EgressClient } from '../tools/http/egress-client.js';

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
  /** Keeps a file and gives its id. */
  save(file: Omit<StoredFile, 'id'>): Promise<string>;
}

/** A turn to be remembered by long-term memories. */
export interface MemoryEntry {
  readonly memoryIds: readonly string[];
  readonly userId: string;
  readonly userInput: string;
  readonly agentResponse: string;
}

/** Services of a run. Everything but the models is optional; a component that misses one says which. */
export interface Services {
  readonly models: Models;
  readonly files?: Files;
  /** The one HTTP client with its egress policy (`src/tools/http`). */
  readonly http?: EgressClient;
  readonly remember?: (entry: MemoryEntry) => Promise<void>;
  /** Ids of the conversation and of the agent; end users see them in requests to models. */
  readonly session?: { readonly id: string; readonly agent?: string };
  /** Headers of this run for tools that declare them. */
  readonly headers?: JsonObject;
}

/**
 * The services of the run that an activation belongs to.
 *
 * @throws EngineError CONFIG_INVALID when the run was started without models.
 */
export function servicesOf(activation: Activation): Services {
  const { services } = activation;
  if (typeof services === 'object' && services !== null && 'models' in services) return services as Services;
  throw new EngineError(
    'CONFIG_INVALID',
    `Node "${activation.node}" needs a model, but the run was started without services; pass { services: { models } }.`,
    { node: activation.node },
  );
}
