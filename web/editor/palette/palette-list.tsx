/** Types of components to add: found by words, chosen by click, by keyboard, or dragged onto the canvas. */
import { type KeyboardEvent, useId, useMemo, useState } from 'react';
import { kindOf } from '../../canvas/kinds.js';
import { defineTexts, useTexts } from '../../shell/texts.js';
import { useEditor } from '../editor-context.js';
import type { CatalogueEntry } from '../model/catalogue.js';
import style from './palette.module.css';
import { groupsOf, paletteEntries } from './palette-groups.js';

const texts = defineTexts({
  en: {
    search: 'Search components',
    none: 'No component fits this search.',
    groups: {
      flow: 'Flow',
      model: 'Models',
      conversation: 'Conversation',
      data: 'Data',
      web: 'Web',
      tools: 'Tools',
      knowledge: 'Knowledge',
      other: 'Others',
    } as Readonly<Record<string, string>>,
  },
  zh: {
    search: '搜索组件',
    none: '没有符合搜索的组件。',
    groups: {
      flow: '流程',
      model: '模型',
      conversation: '对话',
      data: '数据',
      web: '网络',
      tools: '工具',
      knowledge: '知识',
      other: '其他',
    } as Readonly<Record<string, string>>,
  },
});

/** What a type is dragged as. */
export const DRAGGED_TYPE = 'application/x-runnel-component';

export interface PaletteListProps {
  readonly onChoose: (entry: CatalogueEntry) => void;
  /** Whether the search has the focus at once. @default false */
  readonly hasFocus?: boolean;
}

export function PaletteList({ onChoose, hasFocus = false }: PaletteListProps) {
  const words = useTexts(texts);
  const { store, entries, catalogue } = useEditor();
  const [search, setSearch] = useState('');
  const offered = useMemo(() => paletteEntries(entries, catalogue, store.document), [entries, catalogue, store]);
  const groups = useMemo(() => groupsOf(offered, search), [offered, search]);
  const first = groups[0]?.entries[0];
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrows go from the search to the buttons below it
    <div className={style.list} onKeyDown={goOn}>
      <input
        type="search"
        aria-label={words.search}
        placeholder={words.search}
        value={search}
        // biome-ignore lint/a11y/noAutofocus: it opens because its user wants to search
        autoFocus={hasFocus}
        onChange={(event) => setSearch(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && first !== undefined && search.trim() !== '') onChoose(first);
        }}
      />
      <div className={style.groups}>
        {groups.map(({ group, entries: members }) => (
          <Group key={group} title={words.groups[group] ?? group} entries={members} onChoose={onChoose} />
        ))}
        {groups.length === 0 && <p className={style.none}>{words.none}</p>}
      </div>
    </div>
  );
}

interface GroupProps {
  readonly title: string;
  readonly entries: readonly CatalogueEntry[];
  readonly onChoose: (entry: CatalogueEntry) => void;
}

function Group({ title, entries, onChoose }: GroupProps) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      {entries.map((entry) => {
        const { icon: Icon, group } = kindOf(entry.name);
        return (
          <button
            key={entry.name}
            type="button"
            className={`${style.entry} ${style[group]}`}
            title={entry.summary}
            draggable
            onDragStart={(event) => {
              event.dataTransfer.setData(DRAGGED_TYPE, entry.name);
              event.dataTransfer.effectAllowed = 'copy';
            }}
            onClick={() => onChoose(entry)}
          >
            <Icon size={15} aria-hidden="true" />
            <span>{entry.name}</span>
          </button>
        );
      })}
    </section>
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** Arrows go through the search and the buttons. */
function goOn(event: KeyboardEvent<HTMLElement>): void {
  const step = STEPS[event.key];
  if (step === undefined) return;
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>('input, button')];
  const at = stops.indexOf(event.target as HTMLElement);
  const next = stops[at + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
