/** `#/datasets/{id}/documents/{document}`: the chunks of a document. */
import { ArrowLeft, Download, Plus, Search } from 'lucide-react';
import { useId, useState } from 'react';
import { Link, useParams } from 'wouter';
import { Button } from '../parts/button.js';
import { FailureLine } from '../parts/failure-line.js';
import { useQueryValues } from '../parts/location.js';
import { EmptyNote, ErrorNote, LoadingNote } from '../parts/notes.js';
import { PageTurner } from '../parts/page-turner.js';
import { useChoices, useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { CHUNKS_PAGE, type ChunkFilter, type ChunkList, readChunkFilter, useChunks } from './chunk-data.js';
import { ChunkDialog } from './chunk-dialog.js';
import { ChunkScroller } from './chunk-scroller.js';
import { chunksTexts } from './chunks-texts.js';
import { datasetAddress, documentPath, useDataset } from './dataset-data.js';
import head from './dataset-page.module.css';
import style from './datasets.module.css';
import own from './document-page.module.css';
import { DocumentState } from './document-state.js';
import { saveFile } from './save-file.js';

export function DocumentPage() {
  const words = useTexts(chunksTexts);
  const { dataset = '', document = '' } = useParams<{ dataset: string; document: string }>();
  const [query, change] = useQueryValues();
  const filter = readChunkFilter(query);
  const { data, error, refetch } = useChunks(dataset, document, filter);
  if (data === undefined && error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <LoadingNote />;
  const { chunks, total } = data;
  const isFiltered = filter.words !== '' || filter.available !== undefined || filter.ids.length > 0;
  const pages = Math.max(filter.page, Math.ceil(total / CHUNKS_PAGE));
  return (
    <div className={own.page}>
      <DocumentHead dataset={dataset} list={data} />
      <ChunkTools path={documentPath(dataset, document)} filter={filter} onChange={change} />
      {filter.ids.length > 0 && (
        <p className={own.cited} role="status">
          {words.cited(chunks.length)} <Button onClick={() => change({ chunk: undefined })}>{words.showAll}</Button>
        </p>
      )}
      {chunks.length === 0 ? (
        <EmptyNote title={isFiltered ? words.noneFound : words.none}>
          {!isFiltered && <p>{words.noneHint}</p>}
        </EmptyNote>
      ) : (
        <ChunkScroller
          key={filter.page}
          path={documentPath(dataset, document)}
          dataset={dataset}
          chunks={chunks}
          first={(filter.page - 1) * CHUNKS_PAGE + 1}
        />
      )}
      {pages > 1 && (
        <PageTurner
          page={filter.page}
          pages={pages}
          onTurn={(page) => change({ page: page === 1 ? undefined : page })}
        />
      )}
    </div>
  );
}

function DocumentHead({ dataset, list: { doc, total } }: { readonly dataset: string; readonly list: ChunkList }) {
  const words = useTexts(chunksTexts);
  const { language } = useChoices();
  const client = useClient();
  const { data } = useDataset(dataset);
  const [error, setError] = useState<unknown>();
  const save = () => saveFile(client, documentPath(dataset, doc.id), doc.name);
  return (
    <header>
      <Link href={datasetAddress(dataset)} className={head.back}>
        <ArrowLeft size={14} aria-hidden="true" /> {words.back(data?.name ?? words.dataset)}
      </Link>
      <div className={style.head}>
        <h1>{doc.name}</h1>
        <Button onClick={() => void save().catch(setError)}>
          <Download size={16} aria-hidden="true" /> {words.file}
        </Button>
      </div>
      <div className={style.facts}>
        <span>{words.chunks(total.toLocaleString(language))}</span>
        <DocumentState document={doc} progress={undefined} />
      </div>
      {error !== undefined && <FailureLine error={error} />}
    </header>
  );
}

interface ChunkToolsProps {
  readonly path: string;
  readonly filter: ChunkFilter;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
}

function ChunkTools({ path, filter, onChange }: ChunkToolsProps) {
  const words = useTexts(chunksTexts);
  const field = useId();
  const [isNew, setIsNew] = useState(false);
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
        <label htmlFor={field}>{words.available}</label>
        <select
          id={field}
          value={filter.available ?? ''}
          onChange={({ target }) => onChange({ available: target.value || undefined, page: undefined })}
        >
          <option value="">{words.all}</option>
          <option value="true">{words.on}</option>
          <option value="false">{words.off}</option>
        </select>
      </span>
      <span className={style.grow} />
      <Button onClick={() => setIsNew(true)}>
        <Plus size={16} aria-hidden="true" /> {words.add}
      </Button>
      {isNew && <ChunkDialog path={path} chunk={undefined} onClose={() => setIsNew(false)} />}
    </div>
  );
}
