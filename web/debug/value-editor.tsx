/** Variables and outputs of a run, each of which can be given another value. */
import { Pencil, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '../parts/button.js';
import { useTexts } from '../shell/texts.js';
import style from './fork-dialog.module.css';
import { forkTexts } from './fork-texts.js';
import { type Editable, type Edits, textOf } from './value-edits.js';
import { ValueField } from './value-field.js';

export interface ValueEditorProps {
  readonly values: readonly Editable[];
  readonly edits: Edits;
  /** Keys of those whose text is no JSON. */
  readonly broken: readonly string[];
  readonly onEdit: (edits: Edits) => void;
}

/** Values that are listed at once. */
const MAX_LISTED = 100;

export function ValueEditor({ values, edits, broken, onEdit }: ValueEditorProps) {
  const words = useTexts(forkTexts);
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const found = values.filter(({ key, value }) => {
    return edits.has(key) || key.toLowerCase().includes(wanted) || textOf(value).toLowerCase().includes(wanted);
  });
  const edit = (key: string, text: string | undefined) => {
    const next = new Map(edits);
    if (text === undefined) next.delete(key);
    else next.set(key, text);
    onEdit(next);
  };
  return (
    <section className={style.values} aria-label={words.values}>
      <h3>{words.values}</h3>
      <input
        type="search"
        aria-label={words.search}
        placeholder={words.search}
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      <ul>
        {found.slice(0, MAX_LISTED).map((value) => (
          <ValueLine
            key={value.key}
            value={value}
            text={edits.get(value.key)}
            isBroken={broken.includes(value.key)}
            onEdit={(text) => edit(value.key, text)}
          />
        ))}
      </ul>
      {found.length > MAX_LISTED && <p className={style.note}>{words.more(found.length - MAX_LISTED)}</p>}
    </section>
  );
}

interface ValueLineProps {
  readonly value: Editable;
  /** Undefined while it is as it was. */
  readonly text: string | undefined;
  readonly isBroken: boolean;
  readonly onEdit: (text: string | undefined) => void;
}

const SHOWN_CHARACTERS = 120;

function ValueLine({ value: { component, name, kind, value }, text, isBroken, onEdit }: ValueLineProps) {
  const words = useTexts(forkTexts);
  const title = component === '' ? name : `${component}@${name}`;
  const before = textOf(value);
  return (
    <li>
      <div className={style.value}>
        <code>{title}</code>
        {kind === 'variable' && <span className={style.note}>{words.variable}</span>}
        {text === undefined ? (
          <span className={style.before}>{before.slice(0, SHOWN_CHARACTERS)}</span>
        ) : (
          <strong className={style.before}>{words.changed}</strong>
        )}
        {text === undefined ? (
          <IconButton label={words.change(title)} onClick={() => onEdit(before)}>
            <Pencil size={14} aria-hidden="true" />
          </IconButton>
        ) : (
          <IconButton label={words.undo(title)} onClick={() => onEdit(undefined)}>
            <Undo2 size={14} aria-hidden="true" />
          </IconButton>
        )}
      </div>
      {text !== undefined && <ValueField title={title} text={text} isBroken={isBroken} onEdit={onEdit} />}
    </li>
  );
}
