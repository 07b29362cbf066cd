/** Names that are one: two are merged or kept apart by hand, decisions are undone, what texts decided is listed. */

import { useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { NameDecision } from '../../src/knowledge/graph/graph-records.js';
import { Button } from '../parts/button.js';
import { ConfirmDialog } from '../parts/confirm-dialog.js';
import { ErrorNote } from '../parts/notes.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { shortName } from './entity-kinds.js';
import style from './graph.module.css';
import { refreshGraph } from './graph-data.js';
import { decide, undoDecision, useNameLists } from './merge-data.js';
import { mergeTexts } from './merge-texts.js';
import { PairList } from './pair-list.js';

/** What is asked before it is done. */
interface Deed {
  readonly kind: 'merge' | 'split' | 'undo';
  readonly names: readonly [string, string];
  /** Of the decision to undo. */
  readonly id?: string;
}

interface MergePanelProps {
  readonly dataset: string;
  readonly picked: readonly string[];
  /** Two names were decided upon. */
  readonly onDone: () => void;
}

export function MergePanel({ dataset, picked, onDone }: MergePanelProps) {
  const words = useTexts(mergeTexts);
  const heading = useId();
  const [deed, setDeed] = useState<Deed>();
  const { data, error, refetch } = useNameLists(dataset);
  const { merges = [], maybe = [], decisions = [] } = data ?? {};
  const [one, other] = picked;
  return (
    <section className={style.panel} aria-labelledby={heading}>
      <h2 id={heading}>{words.title}</h2>
      {one !== undefined && other !== undefined ? (
        <div className={style.line}>
          <span className={style.text}>
            {words.picked}: <bdi>{shortName(one)}</bdi>, <bdi>{shortName(other)}</bdi>
          </span>
          <Button look="main" onClick={() => setDeed({ kind: 'merge', names: [one, other] })}>
            {words.merge}
          </Button>
          <Button onClick={() => setDeed({ kind: 'split', names: [one, other] })}>{words.split}</Button>
        </div>
      ) : (
        <p className={style.hint}>{words.pickHint}</p>
      )}
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      <PairList
        title={words.decisions}
        pairs={decisions.map(({ kind, ...pair }) => ({ ...pair, note: words[kind] }))}
        actions={[{ text: words.undo, name: words.undoNames, onDo: ({ names, id }) => setDeed(undoOf(names, id)) }]}
      />
      <PairList
        title={words.maybe}
        pairs={maybe.map(({ names, by, score }) => ({ names, note: words.by(by, score.toFixed(2)) }))}
        actions={[
          { text: words.merge, name: words.mergeNames, onDo: ({ names }) => setDeed({ kind: 'merge', names }) },
          { text: words.split, name: words.splitNames, onDo: ({ names }) => setDeed({ kind: 'split', names }) },
        ]}
      />
      <PairList
        title={words.merges}
        pairs={merges.map(({ names, by, score }) => ({ names, note: words.by(by, score.toFixed(2)) }))}
        actions={[
          { text: words.split, name: words.splitNames, onDo: ({ names }) => setDeed({ kind: 'split', names }) },
        ]}
      />
      {deed !== undefined && (
        <DeedDialog dataset={dataset} deed={deed} onDone={onDone} onClose={() => setDeed(undefined)} />
      )}
    </section>
  );
}

function undoOf(names: NameDecision['names'], id: string | undefined): Deed {
  return { kind: 'undo', names, ...(id !== undefined && { id }) };
}

interface DeedDialogProps {
  readonly dataset: string;
  readonly deed: Deed;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function DeedDialog({ dataset, deed: { kind, names, id = '' }, onDone, onClose }: DeedDialogProps) {
  const words = useTexts(mergeTexts);
  const client = useClient();
  const queries = useQueryClient();
  const [one, other] = [shortName(names[0]), shortName(names[1])];
  const confirm = async (): Promise<void> => {
    if (kind === 'undo') await undoDecision(client, dataset, id);
    else await decide(client, dataset, kind === 'merge' ? 'same' : 'apart', names);
    onDone();
    await refreshGraph(queries, dataset);
  };
  return (
    <ConfirmDialog
      title={words[`${kind}Title`]}
      text={words[`${kind}Text`](one, other)}
      action={words[kind]}
      onConfirm={confirm}
      onClose={onClose}
    />
  );
}
