/** What nodes and edges of the board can have done. */
import { createContext, type MouseEvent, useContext } from 'react';
import { NEVER, type Observable } from 'rxjs';
import type { Size } from '../../canvas/sizes.js';

export interface BoardActions {
  /** Asks what to put into an edge. */
  readonly insertInto: (edge: string, event: MouseEvent) => void;
  readonly removeEdge: (edge: string) => void;
  /** The size that the body of a container needs. */
  readonly leastSizeOf: (container: string) => Size | undefined;
  /** The container that would take what is dragged. */
  readonly target$: Observable<string | undefined>;
}

const BoardActionsContext = createContext<BoardActions>({
  insertInto: () => {},
  removeEdge: () => {},
  leastSizeOf: () => undefined,
  target$: NEVER,
});

export const BoardActionsProvider = BoardActionsContext;

export function useBoardActions(): BoardActions {
  return useContext(BoardActionsContext);
}
