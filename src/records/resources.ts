/** Every resource, by the name of its store; those that others belong to come first. */
import { agents } from './agents.js';
import { canvasRuntimes, createCanvasRuntimeStore } from './canvas-runtimes.js';
import type { RepositoryOf, Resource } from './repository.js';
import { runs } from './runs.js';
import { sales } from './sales.js';
import { sessions } from './sessions.js';
import { steers } from './steers.js';
import { tickets } from './tickets.js';
import { createTokenStore, tokens } from './tokens.js';
import { versions } from './versions.js';

export const RESOURCES = { agents, versions, sessions, runs, tokens, canvasRuntimes, sales, tickets, steers };

/** The repository of every resource. */
export type Repositories = { readonly [Name in keyof typeof RESOURCES]: RepositoryOf<(typeof RESOURCES)[Name]> };

/** The stores of plain records. */
export type PlainStores = ReturnType<typeof plainStores>;

/** Makes one implementation of all repositories. */
export function createRepositories(
  create: <T>(resource: Resource<T>, name: keyof Repositories) => unknown,
): Repositories {
  const made = Object.entries(RESOURCES).map(([name, resource]) => [
    name,
    create(resource as unknown as Resource<unknown>, name as keyof Repositories),
  ]);
  return Object.fromEntries(made) as Repositories;
}

/** The stores over all repositories; those whose port is narrower than a repository are wrapped. */
export function plainStores(repositories: Repositories) {
  return {
    ...repositories,
    tokens: createTokenStore(repositories.tokens),
    canvasRuntimes: createCanvasRuntimeStore(repositories.canvasRuntimes),
  };
}
