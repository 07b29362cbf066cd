/** One document in the table. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Download, Play, RotateCw, Square, Trash2 } from 'lucide-react';
import { Link } from 'wouter';
import { IconButton } from '../parts/button.js';
import { FailureLine } from '../parts/failure-line.js';
import { Switch } from '../parts/switch.js';
import { useChoices, useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import {
  type DocumentItem,
  datasetPath,
  documentAddress,
  documentPath,
  parseDocuments,
  refreshDataset,
  stopDocuments,
} from './dataset-data.js';
import style from './datasets.module.css';
import { DocumentState } from './document-state.js';
import { documentsTexts } from './documents-texts.js';
import { fileSize } from './file-size.js';
import type { DocumentProgress } from './ingestion-feed.js';
import { saveFile } from './save-file.js';

export interface DocumentLineProps {
  readonly document: DocumentItem;
  /** What the server told of it last. */
  readonly progress: DocumentProgress | undefined;
  readonly onDelete: () => void;
}

export function DocumentLine({ document, progress, onDelete }: DocumentLineProps) {
  const words = useTexts(documentsTexts);
  const { language } = useChoices();
  const client = useClient();
  const queries = useQueryClient();
  const { id, dataset_id: dataset, name, size, chunk_count: chunks, run, status, duplicate_of: same } = document;
  const { mutate, isPending, error } = useMutation({
    mutationFn: (act: () => Promise<unknown>) => act(),
    onSettled: () => refreshDataset(queries, dataset),
  });
  const isRunning = run === 'RUNNING';
  const turn = (isOn: boolean) =>
    client.call(`${datasetPath(dataset)}/documents/batch-update-status`, {
      method: 'POST',
      body: { doc_ids: [id], status: isOn ? '1' : '0' },
    });
  return (
    <tr>
      <th scope="row">
        <Link href={documentAddress(dataset, id)}>{name}</Link>
        {same !== null && <span className={style.mark}>{words.same}</span>}
        {error !== null && <FailureLine error={error} />}
      </th>
      <td>
        <DocumentState document={document} progress={progress} />
      </td>
      <td className={`${style.number} ${style.onPage}`}>
        {(isRunning ? (progress?.chunks ?? chunks) : chunks).toLocaleString(language)}
      </td>
      <td className={`${style.number} ${style.extra}`}>{fileSize(size, language)}</td>
      <td>
        <Switch
          label={words.isSearched(name)}
          isOn={status === '1'}
          isBusy={isPending}
          onTurn={(isOn) => mutate(() => turn(isOn))}
        />
      </td>
      <td className={style.actions}>
        {isRunning ? (
          <IconButton
            label={words.stop(name)}
            disabled={isPending}
            onClick={() => mutate(() => stopDocuments(client, dataset, [id]))}
          >
            <Square size={16} aria-hidden="true" />
          </IconButton>
        ) : (
          <IconButton
            label={run === 'UNSTART' ? words.parse(name) : words.again(name)}
            disabled={isPending}
            onClick={() => mutate(() => parseDocuments(client, dataset, [id]))}
          >
            {run === 'UNSTART' ? <Play size={16} aria-hidden="true" /> : <RotateCw size={16} aria-hidden="true" />}
          </IconButton>
        )}
        <IconButton
          className={style.onPage}
          label={words.file(name)}
          onClick={() => mutate(() => saveFile(client, documentPath(dataset, id), name))}
        >
          <Download size={16} aria-hidden="true" />
        </IconButton>
        <IconButton label={words.delete(name)} onClick={onDelete}>
          <Trash2 size={16} aria-hidden="true" />
        </IconButton>
      </td>
    </tr>
  );
}
