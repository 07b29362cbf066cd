/** What can be done with a version: restore it as the draft, or run it. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Play, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { JsonObject } from '../../src/json.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { ErrorNote } from '../parts/notes.js';
import type { AgentDetail } from '../run/agent-detail.js';
import { agentPath } from '../run/paths.js';
import { agentAddress } from '../run/place.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { RunVersionDialog } from './run-version-dialog.js';
import type { VersionItem } from './version-data.js';
import style from './versions.module.css';
import { versionsTexts } from './versions-texts.js';

interface VersionActionsProps {
  readonly draft: AgentDetail;
  readonly version: VersionItem;
  readonly dsl: JsonObject;
}

export function VersionActions({ draft, version, dsl }: VersionActionsProps) {
  const words = useTexts(versionsTexts);
  const [dialog, setDialog] = useState<'restore' | 'run'>();
  const close = () => setDialog(undefined);
  return (
    <div className={style.actions}>
      <Button onClick={() => setDialog('run')}>
        <Play size={15} aria-hidden="true" /> {words.run}
      </Button>
      <Button onClick={() => setDialog('restore')}>
        <RotateCcw size={15} aria-hidden="true" /> {words.restore}
      </Button>
      {dialog === 'run' && <RunVersionDialog agent={draft.id} version={version} dsl={dsl} onClose={close} />}
      {dialog === 'restore' && <RestoreDialog draft={draft} version={version} dsl={dsl} onClose={close} />}
    </div>
  );
}

/** The draft as it was can come back as long as the dialog is there. */
function RestoreDialog({
  draft: given,
  version,
  dsl,
  onClose,
}: VersionActionsProps & { readonly onClose: () => void }) {
  const words = useTexts(versionsTexts);
  const client = useClient();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [before] = useState(given);
  const [stored, setStored] = useState({ updateTime: before.update_time, isRestored: false });
  const { mutate, isPending, error } = useMutation({
    mutationFn: (next: JsonObject) =>
      client.call<{ update_time: number }>(agentPath(before.id), {
        method: 'PATCH',
        body: { dsl: next, if_update_time: stored.updateTime },
      }),
    onSuccess: ({ update_time: updateTime }, next) => {
      setStored({ updateTime, isRestored: next === dsl });
      queries.removeQueries({ queryKey: ['agent', before.id], exact: true });
      void queries.invalidateQueries({ queryKey: ['versions', before.id, 'draft'] });
    },
  });
  const isUndone = !stored.isRestored && stored.updateTime !== before.update_time;
  return (
    <Dialog title={words.restoreTitle} onClose={onClose}>
      <p role="status">
        {stored.isRestored ? words.restored : isUndone ? words.undone : words.restoreAbout(version.title)}
      </p>
      {error !== null && <ErrorNote error={error} />}
      <div className={style.end}>
        {stored.isRestored ? (
          <>
            <Button onClick={() => mutate(before.dsl)} disabled={isPending}>
              {words.undo}
            </Button>
            <Button look="main" onClick={() => navigate(agentAddress(before.id))}>
              {words.open}
            </Button>
          </>
        ) : (
          <>
            <Button onClick={onClose}>{words.cancel}</Button>
            <Button look="main" onClick={() => mutate(dsl)} disabled={isPending}>
              {words.restore}
            </Button>
          </>
        )}
      </div>
    </Dialog>
  );
}
