/** `#/datasets`: documents that are searched together. */
import { Plus, Search } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../parts/button.js';
import { useQueryValues } from '../parts/location.js';
import { EmptyNote, ErrorNote, LoadingNote } from '../parts/notes.js';
import { useTexts } from '../shell/texts.js';
import { useDatasets } from './dataset-data.js';
import { DatasetTable } from './dataset-table.js';
import style from './datasets.module.css';
import { datasetsTexts } from './datasets-texts.js';
import { NewDatasetDialog } from './new-dataset-dialog.js';

export function DatasetsPage() {
  const words = useTexts(datasetsTexts);
  const [query, change] = useQueryValues();
  const [isNew, setIsNew] = useState(false);
  const search = query.get('search') ?? '';
  return (
    <div className={style.page}>
      <div className={style.head}>
        <h1>{words.title}</h1>
        <label className={style.search}>
          <Search size={16} aria-hidden="true" />
          <input
            type="search"
            aria-label={words.search}
            placeholder={words.search}
            value={search}
            onChange={({ target }) => change({ search: target.value })}
          />
        </label>
        <Button look="main" onClick={() => setIsNew(true)}>
          <Plus size={16} aria-hidden="true" /> {words.create}
        </Button>
      </div>
      <DatasetList search={search} />
      {isNew && <NewDatasetDialog onClose={() => setIsNew(false)} />}
    </div>
  );
}

function DatasetList({ search }: { readonly search: string }) {
  const words = useTexts(datasetsTexts);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useDatasets(search);
  if (data === undefined && error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <LoadingNote />;
  const datasets = data.pages.flat();
  if (datasets.length === 0) {
    return search.trim() === '' ? (
      <EmptyNote title={words.none}>
        <p>{words.noneHint}</p>
      </EmptyNote>
    ) : (
      <EmptyNote title={words.noneFound} />
    );
  }
  return (
    <>
      <DatasetTable datasets={datasets} />
      {hasNextPage && (
        <Button className={style.more} disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {words.more}
        </Button>
      )}
    </>
  );
}
