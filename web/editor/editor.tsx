/** The editor of an agent's draft: palette, canvas, form, and how the draft stands with the server. */
import { ReactFlowProvider } from '@xyflow/react';
import { memo, useMemo, useState } from 'react';
import { type Adding, type EditorParts, EditorProvider } from './editor-context.js';
import type { EditorProps } from './editor-props.js';
import { EditorScreen } from './editor-screen.js';
import { useCatalogue } from './model/catalogue.js';
import { useUsualModel } from './model/use-models.js';
import { AddPicker } from './palette/palette.js';
import { useDraft } from './use-draft.js';

export const Editor = memo(function Editor(props: EditorProps) {
  const { agent, document, onHandle, lastValues } = props;
  const { store, saver, issues$ } = useDraft(agent, document, onHandle);
  const { catalogue, entries } = useCatalogue();
  const model = useUsualModel();
  const [adding, ask] = useState<Adding>();
  const [unfinished] = useState(() => new Map<string, string>());
  const parts = useMemo(
    (): EditorParts => ({
      agent: agent.id,
      store,
      catalogue,
      entries,
      model,
      ask,
      flush: () => saver.flush(),
      lastValues,
      unfinished,
    }),
    [agent.id, store, saver, catalogue, entries, model, lastValues, unfinished],
  );
  return (
    <EditorProvider value={parts}>
      <ReactFlowProvider>
        <EditorScreen {...props} saver={saver} issues$={issues$} />
        {adding !== undefined && <AddPicker adding={adding} />}
      </ReactFlowProvider>
    </EditorProvider>
  );
});
