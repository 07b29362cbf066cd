/** What all nodes of one canvas share. */
import { createContext, type MouseEvent, useContext } from 'react';

export interface Surroundings {
  /** Makes ids of elements unique where several canvases are on one page. */
  readonly scope: string;
  /** Types that the server has not, in lower case. */
  readonly unknownTypes: ReadonlySet<string>;
  /** In an editor: what a click on a way out of a node does, told by its handle. */
  readonly onPort?: (event: MouseEvent, handle: string) => void;
}

const SurroundingsContext = createContext<Surroundings>({ scope: '', unknownTypes: new Set() });

export const SurroundingsProvider = SurroundingsContext;

export function useSurroundings(): Surroundings {
  return useContext(SurroundingsContext);
}

/** Whether the server has a component of this type; true until it has said. */
export function useIsKnown(type: string): boolean {
  return !useSurroundings().unknownTypes.has(type.trim().toLowerCase());
}
