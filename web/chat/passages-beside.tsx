/** The passages of a document that stand before and after a source, when they are wanted. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FailureLine } from '../parts/failure-line.js';
import { useClient } from '../shell/studio.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './citation.module.css';
import type { PassagePlace } from './evidence.js';

const texts = defineTexts({
  en: {
    title: 'Before and after it in the document',
    before: 'Before',
    after: 'After',
    start: 'The document begins with it.',
    end: 'The document ends with it.',
    further: 'It has more of the document than is listed beside it.',
  },
  zh: {
    title: '文档中的前后内容',
    before: '前文',
    after: '后文',
    start: '文档以此开头。',
    end: '文档以此结尾。',
    further: '它所含的文档内容超出了列出的前后范围。',
  },
});

/** The fields that are used. */
interface BesideChunk {
  readonly content: string;
  readonly start: number | null;
  readonly end: number | null;
}

interface Beside {
  readonly before: readonly BesideChunk[];
  readonly after: readonly BesideChunk[];
}

/** Passages that the server lists of each side. */
const LISTED = 3;

/** Characters of a passage that are shown. */
const MAX_TEXT = 2_000;

export function PassagesBeside({ place }: { readonly place: PassagePlace }) {
  const words = useTexts(texts);
  const client = useClient();
  const [isOpen, setIsOpen] = useState(false);
  const { dataset, document, chunks, start, end } = place;
  const { data, error } = useQuery({
    queryKey: ['datasets', dataset, 'beside', document, chunks],
    enabled: isOpen,
    queryFn: ({ signal }) =>
      client.call<Beside>(`/datasets/${encodeURIComponent(dataset)}/documents/${encodeURIComponent(document)}/beside`, {
        query: { chunk_ids: chunks.join(',') },
        signal,
      }),
    retry: false,
  });
  // What the source has of them already is not shown again.
  const before = data?.before.findLast((one) => one.start !== null && one.start < start);
  const after = data?.after.find((one) => one.end !== null && one.end > end);
  return (
    <details className={style.beside} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{words.title}</summary>
      {error !== null && <FailureLine error={error} />}
      {data !== undefined && (
        <dl>
          <dt>{words.before}</dt>
          <dd>{textOf(before) ?? (data.before.length < LISTED ? words.start : words.further)}</dd>
          <dt>{words.after}</dt>
          <dd>{textOf(after) ?? (data.after.length < LISTED ? words.end : words.further)}</dd>
        </dl>
      )}
    </details>
  );
}

function textOf(chunk: BesideChunk | undefined): string | undefined {
  if (chunk === undefined) return undefined;
  return chunk.content.length > MAX_TEXT ? `${chunk.content.slice(0, MAX_TEXT)} …` : chunk.content;
}
