/** Widgets of single values: numbers, switches, choices, secrets, and lines. */
import { useId, useState } from 'react';
import type { Json } from '../../../src/json.js';
import { Button } from '../../parts/button.js';
import { useTexts } from '../../shell/texts.js';
import { itemsOf } from './field-model.js';
import { fieldTexts } from './field-texts.js';
import style from './form.module.css';
import type { WidgetProps } from './widget.js';

/** What is no number yet stays in the field, and the value as it was. */
export function NumberWidget({ field, id, value, onChange }: WidgetProps) {
  const [text, setText] = useState<string>();
  const { minimum, maximum, type, default: given } = field.schema;
  const isWhole = type === 'integer';
  const shown = text ?? (value === undefined || value === null ? '' : String(value));
  const change = (next: string) => {
    setText(next);
    if (next.trim() === '') onChange(undefined);
    else if (Number.isFinite(Number(next))) onChange(Number(next));
  };
  return (
    <input
      id={id}
      type="number"
      step={isWhole ? 1 : 'any'}
      min={typeof minimum === 'number' && minimum > -1e9 ? minimum : undefined}
      max={typeof maximum === 'number' && maximum < 1e9 ? maximum : undefined}
      placeholder={typeof given === 'number' ? String(given) : undefined}
      value={shown}
      onChange={(event) => change(event.target.value)}
      onBlur={() => setText(undefined)}
    />
  );
}

export function SwitchWidget({ field, id, value, onChange }: WidgetProps) {
  const isOn = typeof value === 'boolean' ? value : field.schema.default === true || isOnByDefault(field.about);
  return <input id={id} type="checkbox" checked={isOn} onChange={(event) => onChange(event.target.checked)} />;
}

function isOnByDefault(about: string): boolean {
  return /default:? true\b/i.test(about);
}

/** Those of the schema; where it is only a description that lists them, any other as well. */
export function OptionsWidget({ field, id, value, onChange }: WidgetProps) {
  const words = useTexts(fieldTexts);
  const list = useId();
  const text = typeof value === 'string' ? value : '';
  if (!Array.isArray(field.schema.enum)) {
    return (
      <>
        <input id={id} list={list} value={text} onChange={(event) => onChange(event.target.value)} />
        <datalist id={list}>
          {field.options.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      </>
    );
  }
  const isStrange = text !== '' && !field.options.includes(text);
  return (
    <select id={id} value={text} onChange={(event) => onChange(event.target.value || undefined)}>
      {(!field.isRequired || text === '') && <option value="">{words.default}</option>}
      {isStrange && <option value={text}>{text}</option>}
      {field.options.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  );
}

/** A secret goes into the document and is never shown again. */
export function SecretWidget({ id, value, onChange }: WidgetProps) {
  const words = useTexts(fieldTexts);
  const [text, setText] = useState<string>();
  const isSet = typeof value === 'string' && value !== '';
  const set = () => {
    if (text !== undefined && text !== '') onChange(text);
    setText(undefined);
  };
  if (text === undefined) {
    return (
      <span className={style.secret}>
        <span className={isSet ? style.isSet : style.notSet}>{isSet ? words.isSet : words.notSet}</span>
        <Button id={id} onClick={() => setText('')}>
          {isSet ? words.replace : words.keep}
        </Button>
        {isSet && <Button onClick={() => onChange('')}>{words.take}</Button>}
      </span>
    );
  }
  return (
    <input
      id={id}
      type="password"
      autoComplete="off"
      // biome-ignore lint/a11y/noAutofocus: it is there because its user asked for it
      autoFocus
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={set}
      onKeyDown={(event) => {
        if (event.key === 'Enter') set();
      }}
    />
  );
}

/** Short texts, one in each line. */
export function LinesWidget({ id, value, onChange }: WidgetProps) {
  const words = useTexts(fieldTexts);
  const [text, setText] = useState<string>();
  const change = (next: string) => {
    setText(next);
    onChange(next.split('\n').filter((line) => line.trim() !== ''));
  };
  return (
    <textarea
      id={id}
      rows={2}
      placeholder={words.onPerLine}
      value={text ?? textsIn(value).join('\n')}
      onChange={(event) => change(event.target.value)}
      onBlur={() => setText(undefined)}
    />
  );
}

/** The texts of a list, also where one stands alone. */
export function textsIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  return itemsOf(value).map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
}
