/** Node types as the server describes them. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { CatalogueEntry } from '../../../src/transport/components/catalogue-shapes.js';
import { catalogueQuery } from '../../canvas/catalogue.js';
import { useClient } from '../../shell/studio.js';

export type { CatalogueEntry } from '../../../src/transport/components/catalogue-shapes.js';

/** Types by every name that they have, in lower case. */
export type Catalogue = ReadonlyMap<string, CatalogueEntry>;

const NONE: Catalogue = new Map();

/** The catalogue; empty until the server has said. `error`: why it does not. */
export function useCatalogue(): {
  readonly catalogue: Catalogue;
  readonly entries: readonly CatalogueEntry[];
  readonly error: unknown;
} {
  const client = useClient();
  const { data, error } = useQuery(catalogueQuery(client));
  return useMemo(
    () => ({ entries: data ?? [], catalogue: data === undefined ? NONE : byName(data), error: error ?? undefined }),
    [data, error],
  );
}

/** Types by each of their names; where a canvas and a pipeline share a name, that of the canvas. */
export function byName(entries: readonly CatalogueEntry[]): Catalogue {
  const catalogue = new Map<string, CatalogueEntry>();
  for (const entry of entries) {
    for (const name of [entry.name, ...entry.aliases]) {
      const key = name.toLowerCase();
      if (!catalogue.has(key)) catalogue.set(key, entry);
    }
  }
  return catalogue;
}

export function entryOf(catalogue: Catalogue, type: string): CatalogueEntry | undefined {
  return catalogue.get(type.trim().toLowerCase());
}
