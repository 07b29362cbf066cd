/** The editor's model: a document, and what its user does to it. The canvas draws it, and changes nothing by itself. */
import { BehaviorSubject, distinctUntilChanged, map, type Observable } from 'rxjs';
import type { Document } from '../../../src/dsl/document.js';
import {
  type CutEdge,
  type Edit,
  placeComponents,
  type Refusal,
  resizeContainer,
} from '../../../src/dsl/edit/index.js';
import { ownList, ownText } from '../../../src/dsl/json-copy.js';
import type { JsonObject } from '../../../src/json.js';
import { type Drawing, drawDocument } from '../../canvas/drawing.js';
import { type Placement, sceneOf } from '../../canvas/layout/scene.js';
import type { Size } from '../../canvas/sizes.js';
import { beginHistory, type History, redo, takeStep, undo } from './history.js';
import { thoseIn } from './notes.js';
import { movedTo, placeScene, placesOf, type Spots } from './places.js';
import { type LoadedDraft, writeDraft } from './write-draft.js';

/** A state that can be gone back to. */
export interface Moment {
  readonly document: Document;
  /** Undefined until it is known where everything stands. */
  readonly spots: Spots | undefined;
}

export interface EditorState extends Moment {
  /** Ids of components and notes. */
  readonly selection: readonly string[];
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  /** Why the last thing that was tried was not done; a new object each time. */
  readonly refusal: Refusal | undefined;
  /** Connections that the last edit had to take away. */
  readonly cut: readonly CutEdge[];
}

const NONE: readonly CutEdge[] = [];

export interface EditOptions {
  /** What it is about, so that typing on is one step. @default a step of its own */
  readonly about?: string;
  /** Where things stand behind it. @default where they stood */
  readonly move?: (spots: Spots, ids: readonly string[]) => Spots;
  /** Whether the components that it is about are selected behind it. @default false */
  readonly selects?: boolean;
  /** Whether the edit itself wrote into the layout what changed there. @default false: all places are written */
  readonly keepsLayout?: boolean;
}

/** Belongs to one editor on a screen. */
export class EditorStore {
  /** What is selected after each change of it, the present first: typing changes nothing in it. */
  readonly selection$: Observable<readonly string[]>;
  readonly #loaded: LoadedDraft;
  #history: History<Moment>;
  readonly #state: BehaviorSubject<EditorState>;
  #written: { readonly document: Document; readonly dsl: JsonObject } | undefined = undefined;

  /** `start` is what is edited when that is not what was loaded: what was typed before a reload. */
  constructor(loaded: LoadedDraft, start: Document = loaded.document) {
    this.#loaded = loaded;
    const first = beginHistory<Moment>({ document: loaded.document, spots: undefined });
    this.#history = start === loaded.document ? first : takeStep(first, { document: start, spots: undefined });
    this.#state = new BehaviorSubject(this.#stateWith([]));
    this.selection$ = this.#state.pipe(
      map(({ selection }) => selection),
      distinctUntilChanged(),
    );
  }

  get state$(): Observable<EditorState> {
    return this.#state;
  }

  get state(): EditorState {
    return this.#state.value;
  }

  get document(): Document {
    return this.#history.present.document;
  }

  /** The document after each change of it, the present one first. */
  get documents$(): Observable<Document> {
    return this.#state.pipe(
      map(({ document }) => document),
      distinctUntilChanged(),
    );
  }

  /** What is to be stored; the same object as long as nothing changed. */
  get dsl(): JsonObject {
    const { document } = this;
    if (this.#written?.document !== document) this.#written = { document, dsl: writeDraft(this.#loaded, document) };
    return this.#written.dsl;
  }

  /** Says where everything was drawn at first, which is no edit. */
  setSpots(spots: Spots): void {
    const known = (moment: Moment): Moment => (moment.spots === undefined ? { ...moment, spots } : moment);
    const { past, present, future } = this.#history;
    this.#history = { ...this.#history, past: past.map(known), present: known(present), future: future.map(known) };
    this.#tell();
  }

  /** Does an edit; gives why not when it is refused, which the state says, too. */
  edit(change: (document: Document) => Edit, options: EditOptions = {}): Refusal | undefined {
    const { about, move, selects = false, keepsLayout = false } = options;
    const { document, spots } = this.#history.present;
    const edit = change(document);
    if (edit.refused !== undefined) {
      this.refuse(edit.refused);
      return edit.refused;
    }
    if (edit.document === document) return undefined;
    const moved = spots === undefined || move === undefined ? spots : move(spots, edit.ids);
    const isWritten = moved === undefined || moved === spots || keepsLayout;
    const next = isWritten ? edit.document : withPlaces(edit.document, moved);
    this.#history = takeStep(this.#history, { document: next, spots: moved }, { about });
    this.#tell(selects ? edit.ids : undefined, edit.cut);
    return undefined;
  }

  /** Puts things elsewhere. */
  move(places: Spots): void {
    this.edit((document) => ({ document: { ...document }, ids: [...places.keys()] }), {
      move: (spots) => movedTo(spots, places),
    });
  }

  /** Gives a container another size; it never gets smaller than its body needs. */
  resize(id: string, { width, height }: Size): void {
    const size = { width: Math.round(width), height: Math.round(height) };
    const isInLayout = ownList(this.document.graph, 'nodes').some((node) => ownText(node, 'id') === id);
    this.edit(
      (document) => (isInLayout ? resizeContainer(document, id, size) : { document: { ...document }, ids: [id] }),
      {
        move: (spots) => movedTo(spots, new Map([[id, { x: 0, y: 0, ...spots.get(id), ...size }]])),
        keepsLayout: isInLayout,
      },
    );
  }

  undo(): void {
    this.#history = undo(this.#history);
    this.#tell();
  }

  redo(): void {
    this.#history = redo(this.#history);
    this.#tell();
  }

  select(ids: readonly string[]): void {
    const { selection } = this.state;
    if (ids.length === selection.length && ids.every((id, at) => id === selection[at])) return;
    this.#state.next({ ...this.state, selection: ids });
  }

  /** Says why something was not done; undefined takes back what was said last. */
  refuse(refusal: Refusal | undefined): void {
    this.#state.next({ ...this.state, refusal: refusal && { ...refusal }, cut: NONE });
  }

  #tell(selection: readonly string[] = this.state.selection, cut?: readonly CutEdge[]): void {
    this.#state.next(this.#stateWith(selection, cut));
  }

  #stateWith(selection: readonly string[], cut = NONE): EditorState {
    const { past, present, future } = this.#history;
    return {
      ...present,
      selection: thoseIn(present.document, selection),
      canUndo: past.length > 0,
      canRedo: future.length > 0,
      refusal: undefined,
      cut,
    };
  }
}

/** A document as the editor draws it: with all ways that there could be. */
export function editorDrawing(document: Document): Drawing {
  return drawDocument(document, [], { hasAllWays: true });
}

/** Where everything stands, with its size. */
export function editorPlacement(drawing: Drawing, spots: Spots): Placement {
  return placeScene(sceneOf(drawing, true), spots);
}

/** The document with all places in its layout, if it has one. */
function withPlaces(document: Document, spots: Spots): Document {
  const drawing = editorDrawing(document);
  const containers = new Set(drawing.nodes.flatMap(({ id, shape }) => (shape === 'container' ? [id] : [])));
  const edit = placeComponents(document, placesOf(editorPlacement(drawing, spots), containers));
  return edit.refused === undefined ? edit.document : document;
}
