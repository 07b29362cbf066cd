/** Documents as a table: how each stands, whether it is searched, and what can be done with it. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmDialog } from '../parts/confirm-dialog.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { type DocumentItem, datasetPath, refreshDataset } from './dataset-data.js';
import style from './datasets.module.css';
import { datasetsTexts } from './datasets-texts.js';
import { DocumentLine } from './document-line.js';
import { documentsTexts } from './documents-texts.js';
import type { DocumentProgress } from './ingestion-feed.js';

interface DocumentTableProps {
  readonly documents: readonly DocumentItem[];
  readonly progress: ReadonlyMap<string, DocumentProgress>;
}

export function DocumentTable({ documents, progress }: DocumentTableProps) {
  const words = useTexts(documentsTexts);
  const { state } = useTexts(datasetsTexts);
  const client = useClient();
  const queries = useQueryClient();
  const [doomed, setDoomed] = useState<DocumentItem>();
  const remove = async ({ id, dataset_id: dataset }: DocumentItem) => {
    await client.call(`${datasetPath(dataset)}/documents`, { method: 'DELETE', body: { ids: [id] } });
    await refreshDataset(queries, dataset);
  };
  return (
    <>
      <table className={style.table}>
        <thead>
          <tr>
            <th scope="col">{words.name}</th>
            <th scope="col">{state}</th>
            <th scope="col" className={`${style.number} ${style.onPage}`}>
              {words.chunks}
            </th>
            <th scope="col" className={`${style.number} ${style.extra}`}>
              {words.size}
            </th>
            <th scope="col">{words.searched}</th>
            <th scope="col">
              <span className="unseen">{words.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {documents.map((document) => (
            <DocumentLine
              key={document.id}
              document={document}
              progress={progress.get(document.id)}
              onDelete={() => setDoomed(document)}
            />
          ))}
        </tbody>
      </table>
      {doomed !== undefined && (
        <ConfirmDialog
          title={words.deleteTitle}
          text={words.deleteText(doomed.name, doomed.chunk_count)}
          action={words.deleteAction}
          onConfirm={() => remove(doomed)}
          onClose={() => setDoomed(undefined)}
        />
      )}
    </>
  );
}
