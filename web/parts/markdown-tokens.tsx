/** Blocks and words of markdown as elements. */
import { Image } from 'lucide-react';
import type { MarkedToken, Token, Tokens } from 'marked';
import type { ReactNode } from 'react';
import { CodeBlock } from './code-block.js';
import { ExternalLink } from './external-link.js';
import style from './markdown.module.css';

/** What stands in place of `[n]`. */
export type CitationOf = ((n: string, key: string) => ReactNode | undefined) | undefined;

export interface TokenProps {
  readonly token: Token;
  readonly citation?: CitationOf;
}

/** A block. What is not known is shown as it was written. */
export function BlockToken({ token: any, citation }: TokenProps): ReactNode {
  const token = any as MarkedToken;
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'hr':
      return <hr />;
    case 'heading':
      return <Heading token={token} citation={citation} />;
    case 'code':
      return <CodeBlock text={token.text} language={token.lang} />;
    case 'blockquote':
      return <blockquote>{blocksOf(token.tokens, citation)}</blockquote>;
    case 'list':
      return <List token={token} citation={citation} />;
    case 'table':
      return <MarkdownTable token={token} citation={citation} />;
    case 'paragraph':
      return <p>{wordsOf(token.tokens, citation)}</p>;
    case 'text':
      return token.tokens === undefined ? citedText(token.text, citation) : wordsOf(token.tokens, citation);
    default:
      return <p className={style.plain}>{token.raw}</p>;
  }
}

/** Headings of an answer stand below those of the page. */
function Heading({ token, citation }: { readonly token: Tokens.Heading; readonly citation: CitationOf }) {
  const Tag = token.depth <= 1 ? 'h3' : token.depth === 2 ? 'h4' : 'h5';
  return <Tag>{wordsOf(token.tokens, citation)}</Tag>;
}

function List({ token, citation }: { readonly token: Tokens.List; readonly citation: CitationOf }) {
  const items = token.items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: an item of a growing list keeps its place
    <li key={index}>
      {item.task && <input type="checkbox" checked={item.checked === true} disabled aria-label={item.text} />}
      {blocksOf(item.tokens, citation)}
    </li>
  ));
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function blocksOf(tokens: readonly Token[], citation: CitationOf): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: a block of a growing text keeps its place
  return tokens.map((token, index) => <BlockToken key={index} token={token} citation={citation} />);
}

/** Words inside a block. */
function wordsOf(tokens: readonly Token[], citation: CitationOf): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: a word of a growing text keeps its place
  return tokens.map((token, index) => <Word key={index} token={token} citation={citation} />);
}

function Word({ token: any, citation }: TokenProps): ReactNode {
  const token = any as MarkedToken;
  switch (token.type) {
    case 'strong':
      return <strong>{wordsOf(token.tokens, citation)}</strong>;
    case 'em':
      return <em>{wordsOf(token.tokens, citation)}</em>;
    case 'del':
      return <del>{wordsOf(token.tokens, citation)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <ExternalLink href={token.href}>{wordsOf(token.tokens, undefined)}</ExternalLink>;
    case 'image':
      return <Picture token={token} />;
    case 'text':
      return token.tokens === undefined ? citedText(token.text, citation) : wordsOf(token.tokens, citation);
    case 'escape':
      return token.text;
    default:
      return token.raw;
  }
}

/** A picture is named and not loaded: its address can carry data away. */
function Picture({ token: { href, text } }: { readonly token: Tokens.Image }) {
  return (
    <span className={style.picture}>
      <Image size={14} aria-hidden="true" /> <ExternalLink href={href}>{text === '' ? href : text}</ExternalLink>
    </span>
  );
}

const CITATION = /\[(?:ID:\s?)?(\d{1,4})\]/g;

function citedText(text: string, citation: CitationOf): ReactNode {
  if (citation === undefined || !text.includes('[')) return text;
  const parts: ReactNode[] = [];
  let at = 0;
  for (const match of text.matchAll(CITATION)) {
    const shown = citation(match[1] as string, `${match.index}`);
    if (shown === undefined) continue;
    parts.push(text.slice(at, match.index), shown);
    at = match.index + match[0].length;
  }
  return parts.length === 0 ? text : [...parts, text.slice(at)];
}

/** Rows that are drawn. */
const MAX_ROWS = 1_000;

function MarkdownTable({ token, citation }: { readonly token: Tokens.Table; readonly citation: CitationOf }) {
  const { header, rows } = token;
  return (
    // It scrolls by itself, so people without a pointer must be able to reach it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls takes the focus
    <div className={style.table} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {header.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a cell of a growing table keeps its place
              <th key={index} className={cell.align === null ? undefined : style[cell.align]}>
                {wordsOf(cell.tokens, citation)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_ROWS).map((row, line) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row of a growing table keeps its place
            <tr key={line}>
              {row.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell of a growing table keeps its place
                <td key={index} className={cell.align === null ? undefined : style[cell.align]}>
                  {wordsOf(cell.tokens, citation)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
