/** "Run on from here": what stays, what runs again, and what is to be different; then both runs stand side by side. */
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useId, useMemo, useState } from 'react';
import type { RunPicture } from '../../src/canvas/picture/picture.js';
import type { JsonObject } from '../../src/json.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { ErrorNote } from '../parts/notes.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { readState } from '../trace/read-state.js';
import type { RunSource } from '../trace/run-source.js';
import style from './fork-dialog.module.css';
import { ForkOutlook } from './fork-outlook.js';
import { planFork } from './fork-plan.js';
import { forkTexts } from './fork-texts.js';
import { useStartFork } from './use-start-fork.js';
import { ValueEditor } from './value-editor.js';
import { changesOf, type Edits, editables } from './value-edits.js';

export interface ForkDialogProps {
  readonly store: RunSource;
  /** Number of the event behind which the new run goes on. */
  readonly at: number;
  readonly onClose: () => void;
}

const NO_EDITS: Edits = new Map();

export function ForkDialog({ store, at, onClose }: ForkDialogProps) {
  const words = useTexts(forkTexts);
  const field = useId();
  const picture = useMemo(() => store.at(at), [store, at]);
  const plan = useMemo(() => planFork(picture), [picture]);
  const { values, isKnown } = useValues(store, at, picture);
  const asked = picture.query ?? '';
  const [query, setQuery] = useState(asked);
  const [edits, setEdits] = useState(NO_EDITS);
  const { broken, ...changes } = changesOf(values, edits);
  const { start, isBusy, error } = useStartFork(store);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (broken.length === 0) void start(at, { ...changes, ...(query !== asked && { query }) });
  };
  return (
    <Dialog title={words.title(at)} onClose={onClose} isWide>
      <form onSubmit={submit} className={style.form}>
        <ForkOutlook plan={plan} />
        <div className={style.question}>
          <label htmlFor={field}>{words.question}</label>
          <textarea id={field} rows={2} value={query} onChange={(event) => setQuery(event.target.value)} />
        </div>
        <ValueEditor values={values} edits={edits} broken={broken} onEdit={setEdits} />
        {!isKnown && <p className={style.note}>{words.unknown}</p>}
        {error !== undefined && <ErrorNote error={error} />}
        <div className={style.buttons}>
          <Button type="submit" look="main" disabled={isBusy || broken.length > 0}>
            {words.start}
          </Button>
          <Button onClick={onClose}>{words.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Values at the event: of the server, or as far as the events say them. */
function useValues(store: RunSource, at: number, picture: RunPicture) {
  const client = useClient();
  const { data, error } = useQuery({
    queryKey: ['state', store.agent, store.run, at],
    queryFn: ({ signal }) => readState(client, store, at, signal),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const values = useMemo(() => {
    if (data !== undefined) return editables(data.outputs, data.variables);
    const outputs: [string, JsonObject][] = [];
    for (const [id, { activations }] of picture.nodes) {
      const last = activations.findLast((one) => one.outputs !== undefined)?.outputs;
      if (last !== undefined) outputs.push([id, last]);
    }
    return editables(Object.fromEntries(outputs), {});
  }, [data, picture]);
  return { values, isKnown: error === null };
}
