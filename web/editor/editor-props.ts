/** What an editor needs of the screen that it is on. */
import type { Document } from '../../src/dsl/document.js';
import type { KeptFocus } from '../canvas/kept-focus.js';
import type { LiveRun } from '../canvas/live/live-run.js';
import type { AgentDetail } from '../run/agent-detail.js';
import type { LastValues } from './model/last-values.js';
import type { EditorHandle } from './use-draft.js';

export interface EditorProps {
  /** Its draft is what is edited, as it was when the editor came. */
  readonly agent: AgentDetail;
  readonly document: Document;
  /** Whether a run is shown, also when nothing is known of it yet. */
  readonly isRunShown: boolean;
  /** The run that is shown on its canvas. */
  readonly live: LiveRun;
  readonly selected: string | undefined;
  readonly onSelect: (id: string | undefined) => void;
  /** Whether choosing a component opens its form. */
  readonly opensForm: boolean;
  /** Component whose form was asked for before the editor came. */
  readonly opened: string | undefined;
  /** Asks for the form of a component, on the canvas that is there while the editor is not. */
  readonly onOpen: (id: string) => void;
  /** The focus that the canvas before had, and the one after this is given. */
  readonly focus: KeptFocus;
  readonly lastValues: () => Promise<LastValues | undefined>;
  /** Told what runs need of the editor; undefined when it goes. */
  readonly onHandle: (handle: EditorHandle | undefined) => void;
  /** Asks for the draft as it is stored now, in a new editor. */
  readonly onReload: () => void;
}
