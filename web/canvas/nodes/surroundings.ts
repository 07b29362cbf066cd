/** What all nodes of one canvas share. */
import { createContext, useContext } from 'react';

export interface Surroundings {
  /** Makes ids of elements unique where several canvases are on one page. */
  readonly scope: string;
  /** Types that the server has, in lower case; undefined until it has said. */
  readonly knownTypes: ReadonlySet<string> | undefined;
}

const SurroundingsContext = createContext<Surroundings>({ scope: '', knownTypes: undefined });

export const SurroundingsProvider = SurroundingsContext;

export function useSurroundings(): Surroundings {
  return useContext(SurroundingsContext);
}

/** Whether the server has a component of this type; true until it has said. */
export function useIsKnown(type: string): boolean {
  const { knownTypes } = useSurroundings();
  return knownTypes === undefined || knownTypes.has(type.trim().toLowerCase());
}
