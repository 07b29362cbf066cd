/** Markdown of documents and models as elements: no HTML of theirs, no picture from elsewhere, links with their host. */
import { memo, type ReactNode, useRef } from 'react';
import style from './markdown.module.css';
import { type MarkdownBlock, MarkdownBlocks } from './markdown-blocks.js';
import { BlockToken } from './markdown-tokens.js';

export interface MarkdownProps {
  readonly text: string;
  /** What stands in place of `[n]`; undefined leaves the text. The same function from one drawing to the next. */
  readonly citation?: ((n: string, key: string) => ReactNode | undefined) | undefined;
}

/** A text that may grow from one drawing to the next. */
export function Markdown({ text, citation }: MarkdownProps) {
  const blocks = useRef<MarkdownBlocks>(null);
  blocks.current ??= new MarkdownBlocks();
  return (
    <div className={style.text}>
      {blocks.current.read(text).map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a block of a growing text keeps its place
        <Block key={index} block={block} citation={citation} />
      ))}
    </div>
  );
}

interface BlockProps extends Pick<MarkdownProps, 'citation'> {
  readonly block: MarkdownBlock;
}

/** Drawn again only when it is another block. */
const Block = memo(function Block({ block: { raw, token }, citation }: BlockProps) {
  if (token === undefined) return <p className={style.plain}>{raw}</p>;
  return <BlockToken token={token} citation={citation} />;
});
