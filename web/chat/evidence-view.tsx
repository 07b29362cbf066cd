/** A source of an answer: its kind, where it stands, what its score is made of, its text. */
import type { ReactNode } from 'react';
import { channelNames } from '../parts/channel-names.js';
import { ExternalLink } from '../parts/external-link.js';
import { JsonView } from '../parts/json-view.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './citation.module.css';
import type { CitedSource } from './evidence.js';
import { PassagesBeside } from './passages-beside.js';

const texts = defineTexts({
  en: {
    score: 'score',
    page: (page: number) => `page ${page}`,
    pages: (first: number, last: number) => `passage: pages ${first} to ${last}`,
    kinds: { kb: 'document', mcp: 'tool', graph: 'knowledge graph', web: 'web' } as Record<string, string>,
    open: 'Open in the document',
    args: 'Arguments',
  },
  zh: {
    score: '得分',
    page: (page: number) => `第 ${page} 页`,
    pages: (first: number, last: number) => `段落：第 ${first} 至 ${last} 页`,
    kinds: { kb: '文档', mcp: '工具', graph: '知识图谱', web: '网页' } as Record<string, string>,
    open: '在文档中打开',
    args: '参数',
  },
});

/** Characters of a source that are shown. */
const MAX_TEXT = 4_000;

export function EvidenceView({ n, evidence }: { readonly n: string; readonly evidence: CitedSource }) {
  const words = useTexts(texts);
  const channels = useTexts(channelNames);
  const {
    source,
    text,
    kind,
    score,
    scores = {},
    url,
    page,
    pages = [],
    pageStarts = [],
    chunks,
    place,
    found = [],
    args,
  } = evidence;
  return (
    <>
      <h3>
        [{n}] {source}
      </h3>
      <p className={style.about}>
        <span className={style.kind} data-kind={kind}>
          {words.kinds[kind] ?? kind}
        </span>
        {page !== undefined && <span>{words.page(page)}</span>}
        {pages.length > 1 && <span>{words.pages(pages[0] as number, pages.at(-1) as number)}</span>}
        {score !== undefined && (
          <span>
            {words.score} {score.toFixed(3)}
          </span>
        )}
        {Object.entries(scores)
          .filter(([, one]) => one !== 0)
          .map(([name, one]) => (
            <span key={name}>
              {channels[name] ?? name} {one.toFixed(3)}
            </span>
          ))}
      </p>
      {chunks !== undefined && <a href={`#${chunks}`}>{words.open}</a>}
      {url !== undefined && <ExternalLink href={url}>{url}</ExternalLink>}
      {args !== undefined && <JsonView label={words.args} value={args} />}
      <blockquote>
        {partsOf(text, found, pageStarts.slice(1), (page) => (
          <span key={`page ${page}`} className={style.pageBreak}>
            {words.page(page)}
          </span>
        ))}
        {text.length > MAX_TEXT && ' …'}
      </blockquote>
      {place !== undefined && <PassagesBeside place={place} />}
    </>
  );
}

/** What was found stands out from the passages next to it, and each page but the first begins with its number. */
function partsOf(
  text: string,
  found: readonly (readonly [from: number, to: number])[],
  pageStarts: NonNullable<CitedSource['pageStarts']>,
  breakOf: (page: number) => ReactNode,
): readonly ReactNode[] {
  const shown = text.slice(0, MAX_TEXT);
  const parts: ReactNode[] = [];
  let nextPage = 0;
  const add = (from: number, to: number, isFound: boolean): void => {
    for (let at = from; at < to; ) {
      const [page, start] = pageStarts[nextPage] ?? [0, to];
      const end = Math.min(to, Math.max(at, start));
      const part = shown.slice(at, end);
      if (part !== '') parts.push(isFound ? <mark key={at}>{part}</mark> : part);
      at = end;
      if (at < to || start < to) {
        parts.push(breakOf(page));
        nextPage += 1;
      }
    }
  };
  let at = 0;
  for (const [from, to] of found) {
    // Ranges may overlap: each sign is shown once.
    if (to <= at || from >= shown.length) continue;
    const begin = Math.max(at, from);
    add(at, begin, false);
    add(begin, Math.min(to, shown.length), true);
    at = to;
  }
  add(at, shown.length, false);
  return parts;
}
