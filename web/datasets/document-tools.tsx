/** Above the documents: which of them are listed, and how more come. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { FileUp, RotateCw, Search } from 'lucide-react';
import { useId } from 'react';
import { Button } from '../parts/button.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import {
  type DocumentFilter,
  type DocumentItem,
  datasetPath,
  parseDocuments,
  RUN_STATES,
  refreshDataset,
} from './dataset-data.js';
import style from './datasets.module.css';
import { datasetsTexts } from './datasets-texts.js';
import { documentsTexts } from './documents-texts.js';

interface DocumentToolsProps {
  readonly dataset: string;
  readonly filter: DocumentFilter;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
  /** Opens the choice of files. */
  readonly onChoose: () => void;
}

export function DocumentTools({ dataset, filter, onChange, onChoose }: DocumentToolsProps) {
  const words = useTexts(documentsTexts);
  const { states } = useTexts(datasetsTexts);
  const field = useId();
  return (
    <div className={style.tools}>
      <label className={style.search}>
        <Search size={16} aria-hidden="true" />
        <input
          type="search"
          aria-label={words.search}
          placeholder={words.search}
          value={filter.words}
          onChange={({ target }) => onChange({ search: target.value, page: undefined })}
        />
      </label>
      <span className={style.choice}>
        <label htmlFor={field}>{words.state}</label>
        <select
          id={field}
          value={filter.run ?? ''}
          onChange={({ target }) => onChange({ run: target.value || undefined, page: undefined })}
        >
          <option value="">{words.all}</option>
          {RUN_STATES.map((run) => (
            <option key={run} value={run}>
              {states[run]}
            </option>
          ))}
        </select>
      </span>
      <span className={style.grow} />
      <RetryAll dataset={dataset} />
      <Button look="main" onClick={onChoose}>
        <FileUp size={16} aria-hidden="true" /> {words.upload}
      </Button>
    </div>
  );
}

/** Documents that are put in line again in one go. */
const MOST = 100;

/** Shown where documents failed or were stopped. */
function RetryAll({ dataset }: { readonly dataset: string }) {
  const words = useTexts(documentsTexts);
  const client = useClient();
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: ['datasets', dataset, 'documents', 'broken'],
    queryFn: ({ signal }) => {
      // The names of states are repeated, which a record of values cannot say.
      const path = `${datasetPath(dataset)}/documents?run=FAIL&run=CANCEL&run=UNSTART`;
      return client.call<{ readonly total: number; readonly docs: readonly DocumentItem[] }>(path, {
        query: { page_size: MOST },
        signal,
      });
    },
  });
  const ids = (data?.docs ?? []).map(({ id }) => id);
  const { mutate, isPending } = useMutation({
    mutationFn: () => parseDocuments(client, dataset, ids),
    onSettled: () => refreshDataset(queries, dataset),
  });
  if (ids.length < 2) return null;
  return (
    <Button disabled={isPending} onClick={() => mutate()}>
      <RotateCw size={16} aria-hidden="true" /> {words.retryAll(ids.length)}
    </Button>
  );
}
