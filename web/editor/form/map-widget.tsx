/** Entries by names, each with its fields. */
import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { isJsonObject, type Json, type JsonObject } from '../../../src/json.js';
import { Button, IconButton } from '../../parts/button.js';
import { useTexts } from '../../shell/texts.js';
import { firstValue, resolveSchema } from '../model/starters.js';
import { withValue } from './field-model.js';
import { fieldTexts } from './field-texts.js';
import style from './form.module.css';
import { ObjectFields } from './object-widget.js';
import type { WidgetProps } from './widget.js';

export function MapWidget({ field, title, value, onChange, path }: WidgetProps) {
  const words = useTexts(fieldTexts);
  const entries = isJsonObject(value) ? value : {};
  const schema = resolveSchema(field.schema.additionalProperties, field.root);
  return (
    <>
      <ul className={style.items}>
        {Object.entries(entries).map(([name, entry], at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a name that is being written must not lose its field
          <li key={at} className={style.item} aria-label={name}>
            <div className={style.itemHead}>
              <KeyField
                name={name}
                taken={Object.keys(entries)}
                onChange={(next) => onChange(renamed(entries, name, next))}
              />
              <IconButton label={words.remove(name)} onClick={() => onChange(withValue(entries, name, undefined))}>
                <Trash2 size={14} aria-hidden="true" />
              </IconButton>
            </div>
            <ObjectFields
              schema={schema}
              root={field.root}
              value={isJsonObject(entry) ? entry : {}}
              onChange={(next) => onChange({ ...entries, [name]: next })}
              path={`${path}.${name}`}
            />
          </li>
        ))}
      </ul>
      <NewEntry
        title={title}
        taken={Object.keys(entries)}
        onAdd={(name) => onChange({ ...entries, [name]: firstValue(schema, field.root) })}
      />
    </>
  );
}

interface KeyFieldProps {
  readonly name: string;
  readonly taken: readonly string[];
  readonly onChange: (name: string) => void;
  /** @default the word for a name */
  readonly label?: string;
}

/** A name is changed when its field is left, so that half of it is never one. */
export function KeyField({ name, taken, onChange, label }: KeyFieldProps) {
  const words = useTexts(fieldTexts);
  const [text, setText] = useState<string>();
  const wanted = (text ?? name).trim();
  const isTaken = wanted !== name && taken.includes(wanted);
  const leave = () => {
    if (wanted !== '' && wanted !== name && !isTaken) onChange(wanted);
    setText(undefined);
  };
  return (
    <input
      aria-label={label ?? words.key}
      aria-invalid={isTaken}
      title={isTaken ? words.taken : undefined}
      className={style.key}
      value={text ?? name}
      onChange={(event) => setText(event.target.value)}
      onBlur={leave}
      onKeyDown={(event) => {
        if (event.key === 'Enter') leave();
      }}
    />
  );
}

interface NewEntryProps {
  readonly title: string;
  readonly taken: readonly string[];
  readonly onAdd: (name: string) => void;
}

export function NewEntry({ title, taken, onAdd }: NewEntryProps) {
  const words = useTexts(fieldTexts);
  const [text, setText] = useState('');
  const name = text.trim();
  const isTaken = taken.includes(name);
  const add = () => {
    if (name === '' || isTaken) return;
    onAdd(name);
    setText('');
  };
  return (
    <div className={style.newEntry}>
      <input
        aria-label={words.newKey}
        placeholder={words.newKey}
        aria-invalid={isTaken}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') add();
        }}
      />
      <Button onClick={add} disabled={name === '' || isTaken}>
        <Plus size={14} aria-hidden="true" /> {words.add(title)}
      </Button>
    </div>
  );
}

/** The entries in their order, one of them under another name. */
export function renamed(entries: JsonObject, from: string, to: string): JsonObject {
  return Object.fromEntries(
    Object.entries(entries).map(([name, entry]): [string, Json] => [name === from ? to : name, entry]),
  );
}
