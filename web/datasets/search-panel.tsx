/** A test of a dataset's search: a question, and the passages that it finds with their scores. */
import { Search } from 'lucide-react';
import { type FormEvent, useId } from 'react';
import { Button } from '../parts/button.js';
import { useQueryValues } from '../parts/location.js';
import { EmptyNote, ErrorNote, LoadingNote } from '../parts/notes.js';
import { useTexts } from '../shell/texts.js';
import type { DatasetItem } from './dataset-data.js';
import style from './datasets.module.css';
import { DEFAULT_THRESHOLD, readSearch, type SearchTest, useSearch } from './search-data.js';
import { SearchHitCard } from './search-hit.js';
import panel from './search-panel.module.css';
import { searchTexts } from './search-texts.js';

export function SearchPanel({ dataset: { id } }: { readonly dataset: DatasetItem }) {
  const words = useTexts(searchTexts);
  const [query, change] = useQueryValues();
  const test = readSearch(query);
  const { data, error, refetch, isFetching } = useSearch(id, test);
  const isAsked = test.question.trim() !== '';
  return (
    <div className={panel.panel}>
      <SearchForm
        test={test}
        isBusy={isFetching}
        onSearch={(next) => {
          change(next);
          // The same question again may find something else by now.
          if (next.q === test.question) void refetch();
        }}
      />
      {!isAsked && <p className={style.hint}>{words.intro}</p>}
      {isAsked && data === undefined && error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isAsked && data === undefined && error === null && <LoadingNote />}
      {isAsked && data?.chunks.length === 0 && (
        <EmptyNote title={words.none}>
          <p>{words.noneHint}</p>
        </EmptyNote>
      )}
      {isAsked && data !== undefined && data.chunks.length > 0 && (
        <>
          <p role="status" className={style.hint}>
            {words.found(data.chunks.length, data.total)}
          </p>
          <ol className={panel.hits}>
            {data.chunks.map((hit, at) => (
              <li key={hit.id}>
                <SearchHitCard hit={hit} rank={at + 1} />
              </li>
            ))}
          </ol>
        </>
      )}
    </div>
  );
}

interface SearchFormProps {
  readonly test: SearchTest;
  readonly isBusy: boolean;
  readonly onSearch: (change: Readonly<Record<'q' | 'threshold' | 'weight', string | undefined>>) => void;
}

function SearchForm({ test, isBusy, onSearch }: SearchFormProps) {
  const words = useTexts(searchTexts);
  const field = useId();
  const search = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string): string => String(form.get(name) ?? '').trim();
    const threshold = text('threshold');
    onSearch({
      q: text('q'),
      threshold: threshold === String(DEFAULT_THRESHOLD) ? undefined : threshold,
      weight: text('weight') || undefined,
    });
  };
  return (
    <search>
      <form className={panel.form} onSubmit={search}>
        <label htmlFor={`${field}q`} className="unseen">
          {words.question}
        </label>
        <input
          id={`${field}q`}
          name="q"
          className={panel.question}
          placeholder={words.hint}
          defaultValue={test.question}
          required
        />
        <label>
          {words.threshold}{' '}
          <input name="threshold" type="number" min={0} max={1} step="any" defaultValue={test.threshold} />
        </label>
        <label title={words.weightHint}>
          {words.weight}{' '}
          <input
            name="weight"
            type="number"
            min={0}
            max={1}
            step="any"
            placeholder={words.measured}
            defaultValue={test.weight}
          />
        </label>
        <Button type="submit" look="main" disabled={isBusy}>
          <Search size={16} aria-hidden="true" /> {words.search}
        </Button>
      </form>
    </search>
  );
}
