/** A JSON value as a tree, with search and copy. Long texts and lists are cut until the user asks for all of them. */
import { Search } from 'lucide-react';
import { type KeyboardEvent, useDeferredValue, useId, useMemo, useRef, useState } from 'react';
import type { Json } from '../../src/json.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { CopyButton } from './copy-button.js';
import { JsonLine } from './json-line.js';
import { type JsonRow, jsonRows, MAX_ROWS } from './json-rows.js';
import style from './json-view.module.css';

const texts = defineTexts({
  en: {
    search: 'Search in names and values',
    copyAll: 'Copy all as JSON',
    nothing: 'Nothing holds this text.',
    bound: `Lines from the ${MAX_ROWS.toLocaleString('en')}th on are not shown; search, or copy all.`,
    rest: (count: number) => `show ${count.toLocaleString('en')} more lines`,
  },
  zh: {
    search: '搜索名称和值',
    copyAll: '复制全部 JSON',
    nothing: '没有包含此文本的内容。',
    bound: `第 ${MAX_ROWS.toLocaleString('zh')} 行之后的内容未显示；请搜索，或复制全部。`,
    rest: (count: number) => `再显示 ${count.toLocaleString('zh')} 行`,
  },
});

export interface JsonViewProps {
  readonly value: Json;
  /** Name of the tree for readers of the screen. */
  readonly label: string;
  /** Whether there is a field to search in it. @default false */
  readonly isSearchable?: boolean;
  /** Levels that are open at first, where they are small. @default 2 */
  readonly levels?: number;
}

const NOTHING: ReadonlyMap<string, boolean> = new Map();

export function JsonView({ value, label, isSearchable = false, levels = 2 }: JsonViewProps) {
  const words = useTexts(texts);
  const [text, setText] = useState('');
  const search = useDeferredValue(text.trim().toLowerCase());
  const [opened, setOpened] = useState(NOTHING);
  const [whole, setWhole] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(
    () => jsonRows(value, { opened, whole, search, levels }),
    [value, opened, whole, search, levels],
  );
  const toggle = (row: JsonRow, isOpen = !row.isOpen) => setOpened(new Map(opened).set(row.path, isOpen));
  const showAll = (path: string) => setWhole(new Set(whole).add(path.replace(/\/…$/, '')));
  return (
    <div className={style.view}>
      {isSearchable && (
        <div className={style.tools}>
          <label className={style.search}>
            <Search size={15} aria-hidden="true" />
            <span className="unseen">{words.search}</span>
            <input
              type="search"
              value={text}
              placeholder={words.search}
              onChange={(event) => setText(event.target.value)}
            />
          </label>
          <CopyButton label={words.copyAll} text={() => JSON.stringify(value, null, 2)} />
        </div>
      )}
      <JsonTree label={label} rows={rows} toggle={toggle} showAll={showAll} />
      {search !== '' && rows.length === 1 && <p className={style.note}>{words.nothing}</p>}
      {rows.length >= MAX_ROWS && <p className={style.note}>{words.bound}</p>}
    </div>
  );
}

interface JsonTreeProps {
  readonly label: string;
  readonly rows: readonly JsonRow[];
  readonly toggle: (row: JsonRow, isOpen?: boolean) => void;
  readonly showAll: (path: string) => void;
}

/** Lines that are drawn at once; a screen shows far fewer, and what is further down comes when it is asked for. */
const DRAWN = 500;

function JsonTree({ label, rows, toggle, showAll }: JsonTreeProps) {
  const words = useTexts(texts);
  const id = useId();
  const [at, setAt] = useState(0);
  const [drawn, setDrawn] = useState(DRAWN);
  const list = useRef<HTMLDivElement>(null);
  const chosen = Math.min(at, rows.length - 1);
  const move = (to: number) => {
    setAt(to);
    list.current?.querySelector<HTMLElement>(`[data-at="${to}"]`)?.focus();
  };
  const press = (event: KeyboardEvent) => {
    const row = rows[chosen];
    if (row === undefined || !(event.target instanceof HTMLElement) || event.target.dataset.at === undefined) return;
    const to = nextRow(event.key, rows.slice(0, drawn), chosen);
    if (to === undefined && !(event.key in FOLDS) && event.key !== 'Enter') return;
    event.preventDefault();
    event.stopPropagation();
    if (to !== undefined) move(to);
    else if (row.more !== undefined) showAll(row.path);
    else if (row.size !== undefined) toggle(row, FOLDS[event.key] ?? !row.isOpen);
  };
  return (
    <>
      <div role="tree" aria-label={label} ref={list} className={style.tree} onKeyDown={press}>
        {rows.slice(0, drawn).map((row, index) => (
          <JsonLine
            key={row.path}
            id={`${id}${index}`}
            row={row}
            at={index}
            isChosen={index === chosen}
            toggle={toggle}
            showAll={showAll}
            onFocus={setAt}
          />
        ))}
      </div>
      {rows.length > drawn && (
        <button type="button" className={style.more} onClick={() => setDrawn(drawn * 4)}>
          {words.rest(rows.length - drawn)}
        </button>
      )}
    </>
  );
}

const FOLDS: Readonly<Record<string, boolean>> = { ArrowRight: true, ArrowLeft: false };

/** Where a key leads; undefined when it leads nowhere. */
function nextRow(key: string, rows: readonly JsonRow[], at: number): number | undefined {
  const row = rows[at];
  if (key === 'ArrowDown') return Math.min(rows.length - 1, at + 1);
  if (key === 'ArrowUp') return Math.max(0, at - 1);
  if (key === 'Home') return 0;
  if (key === 'End') return rows.length - 1;
  const isFolded = row?.size === undefined || !row.isOpen;
  if (key === 'ArrowLeft' && row !== undefined && isFolded) {
    return Math.max(
      0,
      rows.findLastIndex((one, index) => index < at && one.level < row.level),
    );
  }
  return undefined;
}
