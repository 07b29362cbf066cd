/** `#/datasets/{id}`: the documents of a dataset, a test of its search, its settings. */
import { ArrowLeft } from 'lucide-react';
import type { ComponentType } from 'react';
import { Link, useParams } from 'wouter';
import { ErrorNote, LoadingNote } from '../parts/notes.js';
import { useChoices } from '../shell/studio.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { type DatasetItem, datasetAddress, graphAddress, useDataset } from './dataset-data.js';
import style from './dataset-page.module.css';
import { DatasetSettings } from './dataset-settings.js';
import page from './datasets.module.css';
import { datasetsTexts } from './datasets-texts.js';
import { DocumentsPanel } from './documents-panel.js';
import { SearchPanel } from './search-panel.js';

const texts = defineTexts({
  en: {
    back: 'All datasets',
    views: 'Views of the dataset',
    tabs: { documents: 'Documents', search: 'Search test', settings: 'Settings' },
    graph: 'Graph',
    documents: (count: string) => (count === '1' ? '1 document' : `${count} documents`),
    chunks: (count: string) => (count === '1' ? '1 chunk' : `${count} chunks`),
    tokens: (count: string) => `${count} tokens`,
    model: (name: string) => `vectors of ${name}`,
    words: 'found by words',
  },
  zh: {
    back: '全部知识库',
    views: '知识库视图',
    tabs: { documents: '文档', search: '检索测试', settings: '设置' },
    graph: '图谱',
    documents: (count: string) => `${count} 个文档`,
    chunks: (count: string) => `${count} 个分块`,
    tokens: (count: string) => `${count} 个 token`,
    model: (name: string) => `向量模型 ${name}`,
    words: '按词检索',
  },
});

const TABS = ['documents', 'search', 'settings'] as const;
type Tab = (typeof TABS)[number];

const PANELS: Readonly<Record<Tab, ComponentType<{ readonly dataset: DatasetItem }>>> = {
  documents: DocumentsPanel,
  search: SearchPanel,
  settings: DatasetSettings,
};

export function DatasetPage() {
  const words = useTexts(texts);
  const { dataset: id = '', tab: named } = useParams<{ dataset: string; tab?: string }>();
  const { data, error, refetch } = useDataset(id);
  const tab = TABS.find((one) => one === named) ?? 'documents';
  const Panel = PANELS[tab];
  if (data === undefined && error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <LoadingNote />;
  return (
    <div className={page.page}>
      <DatasetHead dataset={data} />
      <nav className={style.tabs} aria-label={words.views}>
        {TABS.map((one) => (
          <Link
            key={one}
            href={one === 'documents' ? datasetAddress(id) : `${datasetAddress(id)}/${one}`}
            aria-current={one === tab ? 'page' : undefined}
          >
            {words.tabs[one]}
          </Link>
        ))}
        <Link href={graphAddress(id)}>{words.graph}</Link>
      </nav>
      {/* What is typed in one dataset is not of the next. */}
      <Panel key={id} dataset={data} />
    </div>
  );
}

function DatasetHead({ dataset }: { readonly dataset: DatasetItem }) {
  const words = useTexts(texts);
  const { methods } = useTexts(datasetsTexts);
  const { language } = useChoices();
  const { name, description, document_count: documents, chunk_count: chunks, token_num: tokens } = dataset;
  const { chunk_method: method, embedding_model: model } = dataset;
  return (
    <header>
      <Link href="/datasets" className={style.back}>
        <ArrowLeft size={14} aria-hidden="true" /> {words.back}
      </Link>
      <div className={page.head}>
        <h1>{name}</h1>
      </div>
      {description !== null && description !== '' && <p>{description}</p>}
      <p className={page.facts}>
        <span>{words.documents(documents.toLocaleString(language))}</span>
        <span>{words.chunks(chunks.toLocaleString(language))}</span>
        <span>{words.tokens(tokens.toLocaleString(language))}</span>
        <span>{methods[method] ?? method}</span>
        <span>{model === '' ? words.words : words.model(model)}</span>
      </p>
    </header>
  );
}
