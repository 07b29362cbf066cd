/** The line above the canvas: how the draft stands, and what can be done with all of it. */

import { useReactFlow } from '@xyflow/react';
import { History, PanelLeftOpen, Redo2, StickyNote, Undo2, Upload, Variable } from 'lucide-react';
import { Suspense, useState } from 'react';
import { useLocation } from 'wouter';
import { Button, IconButton } from '../parts/button.js';
import { laterDialog } from '../parts/later-part.js';
import type { AgentDetail } from '../run/agent-detail.js';
import { versionsAddress } from '../run/place.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './editor.module.css';
import { useEditor, useEditorState } from './editor-context.js';
import { addNoteAt } from './model/commands.js';
import type { DraftSaver } from './model/draft-saver.js';
import type { Issue } from './model/problems.js';
import { ProblemsMenu } from './problems-menu.js';
import { SaveNote } from './save-note.js';

const PublishDialog = laterDialog(async () => (await import('./publish-dialog.js')).PublishDialog);
const VariablesDialog = laterDialog(async () => (await import('./variables-dialog.js')).VariablesDialog);

const texts = defineTexts({
  en: {
    toolbar: 'Tools of the editor',
    palette: 'Components',
    undo: 'Undo',
    redo: 'Redo',
    note: 'Add a note',
    newNote: 'Note',
    variables: 'Variables of the canvas',
    versions: 'Versions',
    publish: 'Publish',
  },
  zh: {
    toolbar: '编辑器工具',
    palette: '组件',
    undo: '撤销',
    redo: '重做',
    note: '添加便签',
    newNote: '便签',
    variables: '画布变量',
    versions: '版本',
    publish: '发布',
  },
});

export interface ToolbarProps {
  readonly agent: AgentDetail;
  readonly saver: DraftSaver;
  readonly issues: readonly Issue[];
  readonly onIssue: (issue: Issue) => void;
  readonly hasPalette: boolean;
  readonly onPalette: () => void;
}

export function Toolbar({ agent, saver, issues, onIssue, hasPalette, onPalette }: ToolbarProps) {
  const words = useTexts(texts);
  const [, navigate] = useLocation();
  const [dialog, setDialog] = useState<'variables' | 'publish'>();
  const close = () => setDialog(undefined);
  // They are compared with the draft that the server has.
  const openVersions = async () => {
    await saver.flush();
    navigate(versionsAddress(agent.id));
  };
  return (
    <div role="toolbar" aria-label={words.toolbar} className={style.toolbar}>
      {!hasPalette && (
        <IconButton label={words.palette} onClick={onPalette}>
          <PanelLeftOpen size={16} aria-hidden="true" />
        </IconButton>
      )}
      <EditTools onVariables={() => setDialog('variables')} />
      <SaveNote saver={saver} />
      <span className={style.space} />
      <ProblemsMenu issues={issues} onIssue={onIssue} />
      <Button look="quiet" onClick={() => void openVersions()}>
        <History size={16} aria-hidden="true" /> {words.versions}
      </Button>
      <Button onClick={() => setDialog('publish')}>
        <Upload size={16} aria-hidden="true" /> {words.publish}
      </Button>
      <Suspense>
        {dialog === 'variables' && <VariablesDialog onClose={close} />}
        {dialog === 'publish' && <PublishDialog agent={agent} saver={saver} onClose={close} />}
      </Suspense>
    </div>
  );
}

function EditTools({ onVariables }: { readonly onVariables: () => void }) {
  const words = useTexts(texts);
  const { store } = useEditor();
  const { canUndo, canRedo } = useEditorState();
  const { screenToFlowPosition } = useReactFlow();
  const addNote = () => {
    const canvas = document.querySelector('.react-flow')?.getBoundingClientRect();
    const at = screenToFlowPosition({ x: (canvas?.left ?? 0) + 48, y: (canvas?.top ?? 0) + 48 });
    addNoteAt(store, { x: Math.round(at.x), y: Math.round(at.y) }, words.newNote);
  };
  return (
    <>
      <IconButton label={words.undo} disabled={!canUndo} onClick={() => store.undo()}>
        <Undo2 size={16} aria-hidden="true" />
      </IconButton>
      <IconButton label={words.redo} disabled={!canRedo} onClick={() => store.redo()}>
        <Redo2 size={16} aria-hidden="true" />
      </IconButton>
      <IconButton label={words.note} onClick={addNote}>
        <StickyNote size={16} aria-hidden="true" />
      </IconButton>
      <IconButton label={words.variables} onClick={onVariables}>
        <Variable size={16} aria-hidden="true" />
      </IconButton>
    </>
  );
}
