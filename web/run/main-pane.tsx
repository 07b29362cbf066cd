/** The canvas of an agent: with its editor where there is room for one, else as a picture. */
import { useQueryClient } from '@tanstack/react-query';
import { memo, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import type { Document } from '../../src/dsl/document.js';
import { CanvasView } from '../canvas/canvas-view.js';
import type { EditorHandle } from '../editor/use-draft.js';
import { laterPart, MissingBeside } from '../parts/later-part.js';
import { useMedia } from '../parts/use-media.js';
import { useClient } from '../shell/studio.js';
import { readState } from '../trace/read-state.js';
import type { AgentDetail } from './agent-detail.js';
import type { Conversation } from './conversation.js';
import { useEditorDue } from './editor-due.js';
import type { ShownRun } from './use-conversation.js';

const Editor = laterPart(
  async () => (await import('../editor/editor.js')).Editor,
  (note, { agent, live, selected, onSelect, onOpen, focus }) => (
    <>
      <CanvasView
        document={agent.dsl}
        live={live}
        selected={selected}
        onSelect={onSelect}
        onOpen={onOpen}
        focus={focus}
      />
      <MissingBeside>{note}</MissingBeside>
    </>
  ),
);

/** Below this width of the window it is for reading and running. */
const ROOM = '(min-width: 1000px)';

export interface MainPaneProps extends ShownRun {
  readonly agent: AgentDetail;
  /** Undefined when it cannot be read. */
  readonly document: Document | undefined;
  readonly conversation: Conversation;
  /** Whether the address names a run or a conversation, which is shown first. */
  readonly isRead: boolean;
  readonly selected: string | undefined;
  /** Whether choosing a node opens its form. */
  readonly opensForm: boolean;
  readonly onSelect: (id: string | undefined) => void;
  /** Told the document after each edit. */
  readonly onDocument: (document: Document) => void;
}

export const MainPane = memo(function MainPane(props: MainPaneProps) {
  const { agent, document, conversation, isRead, store, live, selected, opensForm, onSelect, onDocument } = props;
  const client = useClient();
  const queries = useQueryClient();
  const hasRoom = useMedia(ROOM);
  const [generation, setGeneration] = useState(0);
  const [opened, setOpened] = useState<string>();
  const focus = useRef<string>(undefined);
  const isDue = useEditorDue({ conversation, agent: agent.id, isRead, isChosen: selected !== undefined });
  const shown = useRef(store);
  useEffect(() => {
    shown.current = store;
  });
  const lastValues = useCallback(async () => {
    const [run, picture] = [shown.current, live.picture];
    if (run === undefined || picture === undefined) return undefined;
    return readState(client, run, picture.lastSeq).catch(() => undefined);
  }, [client, live]);
  const onHandle = useCallback(
    (handle: EditorHandle | undefined) => {
      conversation.prepareWith(handle?.flush ?? (async () => {}));
      // It ends with the editor, which ends its documents.
      handle?.documents$.subscribe((now) => {
        conversation.describe(Object.values(now.components));
        onDocument(now);
      });
    },
    [conversation, onDocument],
  );
  const onReload = useCallback(() => {
    const loaded = queries.refetchQueries({ queryKey: ['agent', agent.id], exact: true });
    void loaded.then(() => {
      // It may have no such node.
      onSelect(undefined);
      setOpened(undefined);
      setGeneration((now) => now + 1);
    });
  }, [queries, agent.id, onSelect]);
  const canvas = (
    <CanvasView
      document={agent.dsl}
      live={live}
      selected={selected}
      onSelect={onSelect}
      onOpen={setOpened}
      focus={focus}
    />
  );
  if (!hasRoom || document === undefined) return canvas;
  return (
    <Suspense fallback={canvas}>
      {isDue ? (
        <Editor
          key={generation}
          agent={agent}
          document={document}
          isRunShown={store !== undefined}
          live={live}
          selected={selected}
          onSelect={onSelect}
          opensForm={opensForm}
          opened={opened}
          onOpen={setOpened}
          focus={focus}
          lastValues={lastValues}
          onHandle={onHandle}
          onReload={onReload}
        />
      ) : (
        canvas
      )}
    </Suspense>
  );
});
