/** `#/graph/{dataset}`: what names in the documents of a dataset have to do with each other. */
import { ArrowLeft } from 'lucide-react';
import { Link, useParams } from 'wouter';
import { datasetAddress, useDataset } from '../datasets/dataset-data.js';
import head from '../datasets/dataset-page.module.css';
import style from '../datasets/datasets.module.css';
import { useQueryValues } from '../parts/location.js';
import { EmptyNote, ErrorNote, LoadingNote } from '../parts/notes.js';
import { useTexts } from '../shell/texts.js';
import { BuildPanel } from './build-panel.js';
import { buildTexts } from './build-texts.js';
import { readGraphFilter } from './graph-address.js';
import { useGraphPart } from './graph-data.js';
import { graphTexts } from './graph-texts.js';
import { GraphView } from './graph-view.js';

export function GraphPage() {
  const { dataset = '' } = useParams<{ dataset: string }>();
  // What is typed and chosen in one graph is not of the next.
  return <GraphOf key={dataset} dataset={dataset} />;
}

function GraphOf({ dataset }: { readonly dataset: string }) {
  const words = useTexts(graphTexts);
  const build = useTexts(buildTexts);
  const [query] = useQueryValues();
  const { data: about } = useDataset(dataset);
  const filter = readGraphFilter(query);
  const { data: part, error, refetch } = useGraphPart(dataset, filter);
  const name = about?.name ?? '…';
  if (part === undefined && error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  return (
    <div className={style.page}>
      <header>
        <Link href={datasetAddress(dataset)} className={head.back}>
          <ArrowLeft size={14} aria-hidden="true" /> <bdi>{words.back(name)}</bdi>
        </Link>
        <div className={style.head}>
          <h1>{words.title(name)}</h1>
        </div>
      </header>
      {part === undefined && <LoadingNote />}
      {part === null && (
        <>
          <EmptyNote title={build.none}>
            <p>{build.noneHint}</p>
          </EmptyNote>
          <BuildPanel dataset={dataset} />
        </>
      )}
      {part !== undefined && part !== null && <GraphView dataset={dataset} part={part} filter={filter} />}
    </div>
  );
}
