/** Search by words and by a tag; both are in the address. */
import { Search } from 'lucide-react';
import { defineTexts, useTexts } from '../shell/texts.js';
import { useTags } from './agent-data.js';
import style from './search-bar.module.css';

const texts = defineTexts({
  en: { search: 'Search agents', tags: 'Tags' },
  zh: { search: '搜索智能体', tags: '标签' },
});

interface SearchBarProps {
  readonly words: string;
  readonly tag: string | undefined;
  readonly onChange: (change: { readonly search?: string | undefined; readonly tag?: string | undefined }) => void;
}

export function SearchBar({ words, tag, onChange }: SearchBarProps) {
  const { search, tags } = useTexts(texts);
  const { data = [] } = useTags();
  // A tag that is asked for stands there also when no agent has it any more.
  const shown = tag === undefined || data.some((one) => one.tag === tag) ? data : [...data, { tag, count: 0 }];
  return (
    <div className={style.bar}>
      <label className={style.field}>
        <Search size={16} aria-hidden="true" />
        <input
          type="search"
          aria-label={search}
          placeholder={search}
          value={words}
          onChange={({ target }) => onChange({ search: target.value })}
        />
      </label>
      {shown.length > 0 && (
        <fieldset className={style.tags}>
          <legend className="unseen">{tags}</legend>
          {shown.map(({ tag: one, count }) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === tag}
              className={style.tag}
              onClick={() => onChange({ tag: one === tag ? undefined : one })}
            >
              {one} <small>{count}</small>
            </button>
          ))}
        </fieldset>
      )}
    </div>
  );
}
