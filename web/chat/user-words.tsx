/** What the user said: words, files, values of a form. */
import { Paperclip } from 'lucide-react';
import { isJsonObject, type Json, type JsonObject } from '../../src/json.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './turn.module.css';

const texts = defineTexts({
  en: { you: 'You', file: 'File' },
  zh: { you: '你', file: '文件' },
});

export interface UserWordsProps {
  readonly query: string;
  readonly files: readonly JsonObject[];
  /** Values of forms: by field, or by form and field. */
  readonly inputs?: JsonObject | undefined;
}

export function UserWords({ query, files, inputs = {} }: UserWordsProps) {
  const words = useTexts(texts);
  const values = valuesOf(inputs);
  if (query === '' && files.length === 0 && values.length === 0) return null;
  return (
    <div className={style.user}>
      <span className="unseen">{words.you}: </span>
      {query !== '' && <p>{query}</p>}
      {values.length > 0 && (
        <dl className={style.values}>
          {values.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{shown(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      {files.map((file, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: files of a turn that was sent do not change
        <p key={index} className={style.file}>
          <Paperclip size={14} aria-hidden="true" />
          <span className="unseen">{words.file}: </span>
          {nameOf(file)}
        </p>
      ))}
    </div>
  );
}

function valuesOf(inputs: JsonObject): readonly (readonly [string, Json])[] {
  return Object.entries(inputs).flatMap(([name, value]) =>
    isJsonObject(value) && /[:#]/.test(name) ? Object.entries(value) : [[name, value] as const],
  );
}

function shown(value: Json): string {
  const inner = isJsonObject(value) && Object.hasOwn(value, 'value') ? (value.value ?? null) : value;
  if (typeof inner === 'string') return inner;
  if (Array.isArray(inner)) return inner.map((one: Json) => (isJsonObject(one) ? nameOf(one) : String(one))).join(', ');
  return isJsonObject(inner) && typeof inner.name === 'string' ? inner.name : JSON.stringify(inner);
}

function nameOf({ name, id }: JsonObject): string {
  return String(name ?? id ?? '');
}
