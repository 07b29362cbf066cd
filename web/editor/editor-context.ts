/** What all parts of an editor share. */
import { createContext, useContext } from 'react';
import { useObservable } from '../parts/use-observable.js';
import type { Catalogue, CatalogueEntry } from './model/catalogue.js';
import type { Spot } from './model/commands.js';
import type { EditorState, EditorStore } from './model/editor-store.js';
import type { LastValues } from './model/last-values.js';

/** Where something is to be added, and where on the screen people are asked what. */
export interface Adding extends Spot {
  /** From the corner of the canvas, in pixels. */
  readonly screen: { readonly x: number; readonly y: number };
}

export interface EditorParts {
  readonly agent: string;
  readonly store: EditorStore;
  readonly catalogue: Catalogue;
  readonly entries: readonly CatalogueEntry[];
  /** Model of new components. */
  readonly model: string | undefined;
  /** Asks what to add. */
  readonly ask: (adding: Adding | undefined) => void;
  /** Saves what is not saved; resolves also when that fails. */
  readonly flush: () => Promise<void>;
  /** What the run that is shown came to; undefined without one. */
  readonly lastValues: () => Promise<LastValues | undefined>;
  /** Texts that are no value yet, such as JSON that is being written, by node and field. */
  readonly unfinished: Map<string, string>;
}

const EditorContext = createContext<EditorParts | undefined>(undefined);

export const EditorProvider = EditorContext;

/** @throws Error outside of an editor. */
export function useEditor(): EditorParts {
  const parts = useContext(EditorContext);
  if (parts === undefined) throw new Error('useEditor: there is no editor around this component');
  return parts;
}

/** Ids of what is selected: its reader is drawn again with another selection alone, not with each letter that is typed. */
export function useSelected(): readonly string[] {
  const { store } = useEditor();
  return useObservable(store.selection$, store.state.selection);
}

export function useEditorState(): EditorState {
  const { store } = useEditor();
  return useObservable(store.state$, store.state);
}
