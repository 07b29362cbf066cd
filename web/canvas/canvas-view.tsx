/** A document as a canvas, with what a run did on it. */
import type { RunPicture } from '../../src/canvas/picture/picture.js';
import type { Document } from '../../src/dsl/document.js';

export interface CanvasViewProps {
  readonly document: Document;
  /** Undefined before a run. */
  readonly picture: RunPicture | undefined;
  /** Id of the node that is selected. */
  readonly selected: string | undefined;
  readonly onSelect: (id: string | undefined) => void;
}

export function CanvasView({ document, picture }: CanvasViewProps) {
  return (
    <ul>
      {Object.values(document.components).map(({ id, name }) => (
        <li key={id}>
          {name}: {picture?.nodes.get(id)?.status ?? 'idle'}
        </li>
      ))}
    </ul>
  );
}
