/** How the parts of the editor lie beside each other. */
import { Suspense, useCallback, useEffect, useRef, useState } from 'react';
import type { Observable } from 'rxjs';
import { laterPart, MissingBeside } from '../parts/later-part.js';
import { useObservable } from '../parts/use-observable.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { Canvas } from './canvas.js';
import style from './editor.module.css';
import { useEditor, useSelected } from './editor-context.js';
import type { EditorProps } from './editor-props.js';
import type { DraftSaver } from './model/draft-saver.js';
import { fieldOfIssue, type Issue } from './model/problems.js';
import { Palette } from './palette/palette.js';
import { RefusalNote } from './refusal-note.js';
import { ConflictNote } from './save-note.js';
import { Toolbar } from './toolbar.js';
import { useKeys } from './use-keys.js';
import { usePalette } from './use-palette.js';

/** Loaded when a form is opened first: many people only look. */
const Inspector = laterPart(
  async () => (await import('./form/inspector.js')).Inspector,
  (note) => <MissingBeside>{note}</MissingBeside>,
);

const texts = defineTexts({ en: { editor: 'Editor' }, zh: { editor: '编辑器' } });

export interface EditorScreenProps extends EditorProps {
  readonly saver: DraftSaver;
  readonly issues$: Observable<readonly Issue[]>;
}

const NONE: readonly Issue[] = [];

export function EditorScreen(props: EditorScreenProps) {
  const { agent, isRunShown, live, selected, onSelect, opensForm, opened, focus, saver, issues$, onReload } = props;
  const words = useTexts(texts);
  const root = useRef<HTMLDivElement>(null);
  const { store } = useEditor();
  const issues = useObservable(issues$, NONE);
  const palette = usePalette(isRunShown);
  const [goal, setGoal] = useState<{ readonly component: string; readonly field: string }>();
  const form = useForm(opensForm, opened);
  useKeys(store, root);
  useSelection(selected, onSelect);
  const goTo = (issue: Issue) => {
    if (issue.component === undefined) return;
    store.select([issue.component]);
    form.open();
    setGoal({ component: issue.component, field: fieldOfIssue(issue) });
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a section would be a region of its own beside the canvas
    <div className={style.editor} ref={root} role="group" aria-label={words.editor}>
      <Toolbar
        agent={agent}
        saver={saver}
        issues={issues}
        onIssue={goTo}
        hasPalette={palette.isOpen}
        onPalette={() => palette.turn(!palette.isOpen)}
      />
      <ConflictNote saver={saver} onReload={onReload} />
      <div className={style.work}>
        {palette.isOpen && <Palette onClose={() => palette.turn(false)} />}
        <div className={style.canvas}>
          <Canvas live={live} opensForm={opensForm} onOpen={form.open} focus={focus} />
          <Suspense>{form.isOpen && <Inspector issues={issues} goal={goal} onClose={form.close} />}</Suspense>
          <RefusalNote />
        </div>
      </div>
    </div>
  );
}

interface Form {
  readonly isOpen: boolean;
  readonly open: () => void;
  readonly close: () => void;
}

/** The form of what is selected: open until it is closed, and again with the next component that is chosen. */
function useForm(opens: boolean, opened: string | undefined): Form {
  const { store } = useEditor();
  const selection = useSelected();
  const chosen = selection.length === 1 ? selection[0] : undefined;
  const [state, setState] = useState<{ readonly of: string | undefined; readonly isOpen: boolean } | undefined>(
    opened === undefined ? undefined : { of: opened, isOpen: true },
  );
  const isOpen = chosen !== undefined && (state?.of === chosen ? state.isOpen : opens);
  const turn = useCallback((wanted: boolean) => setState({ of: store.state.selection[0], isOpen: wanted }), [store]);
  const open = useCallback(() => turn(true), [turn]);
  const close = useCallback(() => turn(false), [turn]);
  return { isOpen, open, close };
}

/** What is selected here is selected beside the canvas, too, and the other way round. */
function useSelection(selected: string | undefined, onSelect: (id: string | undefined) => void): void {
  const { store } = useEditor();
  const selection = useSelected();
  const own = selection.length === 1 ? selection[0] : undefined;
  // What was chosen before the editor came is chosen in it.
  const told = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (own === told.current) return;
    told.current = own;
    onSelect(own);
  }, [own, onSelect]);
  useEffect(() => {
    if (selected === told.current) return;
    told.current = selected;
    store.select(selected === undefined ? [] : [selected]);
  }, [selected, store]);
}
