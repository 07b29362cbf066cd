/** What nodes and edges of the board can have done. */
import { createContext, type MouseEvent, useContext } from 'react';

export interface BoardActions {
  /** Asks what to put into an edge. */
  readonly insertInto: (edge: string, event: MouseEvent) => void;
  readonly removeEdge: (edge: string) => void;
}

const BoardActionsContext = createContext<BoardActions>({ insertInto: () => {}, removeEdge: () => {} });

export const BoardActionsProvider = BoardActionsContext;

export function useBoardActions(): BoardActions {
  return useContext(BoardActionsContext);
}
