/** A value as JSON. What is no JSON yet is kept while it is written, and changes nothing. */
import { useState } from 'react';
import type { Json } from '../../../src/json.js';
import { CodeField } from '../../parts/code-field/code-field.js';
import { useTexts } from '../../shell/texts.js';
import { useEditor } from '../editor-context.js';
import { hideSecrets, showSecrets } from './field-model.js';
import { fieldTexts } from './field-texts.js';
import style from './form.module.css';
import type { WidgetProps } from './widget.js';

export function JsonWidget({ id, title, value, onChange, path }: Omit<WidgetProps, 'field'>) {
  return <JsonField id={id} label={title} rows={3} value={value} about={path} onChange={(next) => onChange(next)} />;
}

export interface JsonFieldProps {
  readonly id?: string;
  readonly label?: string;
  readonly rows: number;
  readonly value: Json | undefined;
  /** What it is, among all of the editor. */
  readonly about: string;
  /** Why a value is not taken; undefined when it is. */
  readonly problemOf?: (value: Json) => string | undefined;
  readonly onChange: (value: Json | undefined) => void;
}

export function JsonField({ id, label, rows, value, about, problemOf, onChange }: JsonFieldProps) {
  const words = useTexts(fieldTexts);
  const { unfinished } = useEditor();
  const [text, setText] = useState<string | undefined>(() => unfinished.get(about));
  const shown = text ?? (value === undefined ? '' : JSON.stringify(hideSecrets(value), null, 2));
  const parsed = text === undefined ? undefined : parse(text);
  const problem =
    parsed === undefined
      ? undefined
      : 'problem' in parsed
        ? words.noJson(parsed.problem)
        : parsed.value !== undefined
          ? problemOf?.(parsed.value)
          : undefined;
  const change = (next: string) => {
    setText(next);
    unfinished.set(about, next);
    const read = parse(next);
    if ('problem' in read || (read.value !== undefined && problemOf?.(read.value) !== undefined)) return;
    onChange(read.value === undefined ? undefined : showSecrets(read.value, value));
  };
  const leave = () => {
    if (problem !== undefined) return;
    unfinished.delete(about);
    setText(undefined);
  };
  return (
    <>
      <CodeField
        id={id}
        label={label}
        language="json"
        rows={rows}
        value={shown}
        isInvalid={problem !== undefined}
        onChange={change}
        onLeave={leave}
      />
      {problem !== undefined && (
        <p className={style.problem} role="status">
          {problem}
        </p>
      )}
    </>
  );
}

type Parsed = { readonly value: Json | undefined } | { readonly problem: string };

function parse(text: string): Parsed {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) as Json };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}
