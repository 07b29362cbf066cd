/** One line of a JSON tree. */
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import type { Json } from '../../src/json.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { CopyButton } from './copy-button.js';
import type { JsonRow } from './json-rows.js';
import style from './json-view.module.css';

const texts = defineTexts({
  en: {
    all: (characters: number) => `show all ${characters.toLocaleString('en')} characters`,
    more: (count: number) => `show ${count.toLocaleString('en')} more`,
    cut: 'The rest is too long to be shown; copy it.',
    copy: 'Copy this value',
    items: (count: number) => (count === 1 ? '1 item' : `${count.toLocaleString('en')} items`),
    members: (count: number) => (count === 1 ? '1 value' : `${count.toLocaleString('en')} values`),
  },
  zh: {
    all: (characters: number) => `显示全部 ${characters.toLocaleString('zh')} 个字符`,
    more: (count: number) => `再显示 ${count.toLocaleString('zh')} 项`,
    cut: '其余内容过长，无法显示；请复制。',
    copy: '复制此值',
    items: (count: number) => `${count.toLocaleString('zh')} 项`,
    members: (count: number) => `${count.toLocaleString('zh')} 个值`,
  },
});

/** Characters of a text that are shown at first, and that are shown at all. */
const FIRST_CHARACTERS = 400;
const MAX_CHARACTERS = 200_000;

/** Deeper lines are not moved further to the right. */
const MAX_INDENT = 16;

export interface JsonLineProps {
  readonly id: string;
  readonly row: JsonRow;
  readonly at: number;
  /** Whether it is the one line that the tab key reaches. */
  readonly isChosen: boolean;
  readonly toggle: (row: JsonRow) => void;
  readonly showAll: (path: string) => void;
  readonly onFocus: (at: number) => void;
}

export function JsonLine({ id, row, at, isChosen, toggle, showAll, onFocus }: JsonLineProps) {
  const words = useTexts(texts);
  const { name, level, value, size, isOpen, more } = row;
  const press = () => (more === undefined ? size !== undefined && toggle(row) : showAll(row.path));
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree around has the keys
    <div
      role="treeitem"
      id={id}
      data-at={at}
      aria-level={level}
      aria-expanded={size === undefined ? undefined : isOpen}
      tabIndex={isChosen ? 0 : -1}
      className={style.line}
      style={{ paddingLeft: 14 * Math.min(MAX_INDENT, level - 1) }}
      onClick={press}
      onFocus={(event) => event.target === event.currentTarget && onFocus(at)}
    >
      <span className={style.fold} aria-hidden="true">
        {size !== undefined && (isOpen ? <ChevronDown size={14} /> : <ChevronRight size={14} />)}
      </span>
      {name !== '' && <span className={style.name}>{name}: </span>}
      {more !== undefined && <span className={style.link}>{words.more(more)}</span>}
      {more === undefined && size === undefined && <Leaf value={value as Json} />}
      {size !== undefined && (
        <span className={style.size}>
          {Array.isArray(value) ? `[ ${words.items(size)} ]` : `{ ${words.members(size)} }`}
        </span>
      )}
      {more === undefined && (
        <CopyButton className={style.copy} label={words.copy} text={() => asText(value as Json)} />
      )}
    </div>
  );
}

function Leaf({ value }: { readonly value: Json }) {
  const words = useTexts(texts);
  const [isWhole, setIsWhole] = useState(false);
  if (typeof value !== 'string') return <span className={style.plain}>{String(value)}</span>;
  const most = isWhole ? MAX_CHARACTERS : FIRST_CHARACTERS;
  return (
    <span className={style.text}>
      {value.length > most ? `"${value.slice(0, most)}…` : `"${value}"`}
      {value.length > most && isWhole && <em className={style.note}> {words.cut}</em>}
      {value.length > most && !isWhole && (
        <button
          type="button"
          className={style.link}
          onClick={(event) => {
            event.stopPropagation();
            setIsWhole(true);
          }}
        >
          {words.all(value.length)}
        </button>
      )}
    </span>
  );
}

function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
