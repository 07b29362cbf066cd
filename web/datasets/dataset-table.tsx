/** Datasets as a table: what is in each, and how it stands. */
import { useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { IconButton } from '../parts/button.js';
import { ConfirmDialog } from '../parts/confirm-dialog.js';
import { sinceText } from '../parts/since.js';
import { useChoices, useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { type DatasetItem, datasetAddress } from './dataset-data.js';
import style from './datasets.module.css';
import { datasetsTexts } from './datasets-texts.js';

export function DatasetTable({ datasets }: { readonly datasets: readonly DatasetItem[] }) {
  const words = useTexts(datasetsTexts);
  const client = useClient();
  const queries = useQueryClient();
  const [doomed, setDoomed] = useState<DatasetItem>();
  const remove = async ({ id }: DatasetItem) => {
    await client.call('/datasets', { method: 'DELETE', body: { ids: [id] } });
    await queries.invalidateQueries({ queryKey: ['datasets'] });
  };
  return (
    <>
      <table className={style.table}>
        <thead>
          <tr>
            <th scope="col">{words.name}</th>
            <th scope="col" className={style.number}>
              {words.documents}
            </th>
            <th scope="col" className={style.number}>
              {words.chunks}
            </th>
            <th scope="col">{words.state}</th>
            <th scope="col" className={style.extra}>
              {words.method}
            </th>
            <th scope="col" className={style.extra}>
              {words.changed}
            </th>
            <th scope="col">
              <span className="unseen">{words.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {datasets.map((dataset) => (
            <DatasetLine key={dataset.id} dataset={dataset} onDelete={() => setDoomed(dataset)} />
          ))}
        </tbody>
      </table>
      {doomed !== undefined && (
        <ConfirmDialog
          title={words.deleteTitle}
          text={words.deleteText(doomed.name, doomed.document_count)}
          action={words.delete}
          onConfirm={() => remove(doomed)}
          onClose={() => setDoomed(undefined)}
        />
      )}
    </>
  );
}

function DatasetLine({ dataset, onDelete }: { readonly dataset: DatasetItem; readonly onDelete: () => void }) {
  const words = useTexts(datasetsTexts);
  const { language } = useChoices();
  const { id, name, description, document_count: documents, chunk_count: chunks, chunk_method: method } = dataset;
  const { update_time: changedAt, source } = dataset;
  return (
    <tr>
      <th scope="row">
        <Link href={datasetAddress(id)}>{name}</Link>
        {source !== null && <span className={style.mark}>{words.follows(source)}</span>}
        {description !== null && description !== '' && <p className={style.description}>{description}</p>}
      </th>
      <td className={style.number}>{documents.toLocaleString(language)}</td>
      <td className={style.number}>{chunks.toLocaleString(language)}</td>
      <td>
        <DatasetState dataset={dataset} />
      </td>
      <td className={style.extra}>{words.methods[method] ?? method}</td>
      <td className={style.extra} title={new Date(changedAt).toLocaleString(language)}>
        {sinceText(changedAt, Date.now(), language)}
      </td>
      <td className={style.actions}>
        <IconButton label={words.deleteDataset(name)} onClick={onDelete}>
          <Trash2 size={16} aria-hidden="true" />
        </IconButton>
      </td>
    </tr>
  );
}

/** What needs attention comes first. */
function DatasetState({ dataset }: { readonly dataset: DatasetItem }) {
  const words = useTexts(datasetsTexts);
  const { parsing_status: counts = {}, document_count: documents } = dataset;
  const {
    fail_count: failed = 0,
    running_count: running = 0,
    unstart_count: fresh = 0,
    cancel_count: left = 0,
  } = counts;
  const waiting = fresh + left;
  return (
    <span className={style.states}>
      {failed > 0 && <span className={style.failed}>{words.failed(failed)}</span>}
      {running > 0 && <span className={style.running}>{words.running(running)}</span>}
      {waiting > 0 && <span className={style.resting}>{words.waiting(waiting)}</span>}
      {documents === 0 && <span className={style.resting}>{words.empty}</span>}
      {documents > 0 && failed + running + waiting === 0 && <span className={style.done}>{words.ready}</span>}
    </span>
  );
}
