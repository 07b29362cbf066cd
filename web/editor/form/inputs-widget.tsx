/** Fields that users are asked for, of Begin and of forms. */
import { Trash2 } from 'lucide-react';
import { useId } from 'react';
import { ownText, ownTexts, ownValue } from '../../../src/dsl/json-copy.js';
import { isJsonObject, type Json, type JsonObject } from '../../../src/json.js';
import { IconButton } from '../../parts/button.js';
import { defineTexts, useTexts } from '../../shell/texts.js';
import { withValue } from './field-model.js';
import { fieldTexts } from './field-texts.js';
import style from './form.module.css';
import { KeyField, NewEntry, renamed } from './map-widget.js';
import type { WidgetProps } from './widget.js';

const texts = defineTexts({
  en: {
    label: 'Question',
    type: 'Type',
    optional: 'Optional',
    options: 'Options, one in each line',
    types: {
      line: 'Line',
      paragraph: 'Paragraph',
      options: 'Options',
      file: 'Files',
      integer: 'Number',
      boolean: 'Yes or no',
      object: 'JSON',
    } as Readonly<Record<string, string>>,
  },
  zh: {
    label: '问题',
    type: '类型',
    optional: '可选',
    options: '选项，每行一个',
    types: {
      line: '单行文本',
      paragraph: '段落',
      options: '选项',
      file: '文件',
      integer: '数字',
      boolean: '是或否',
      object: 'JSON',
    } as Readonly<Record<string, string>>,
  },
});

const TYPES = ['line', 'paragraph', 'options', 'file', 'integer', 'boolean', 'object'];

export function InputsWidget({ title, value, onChange }: WidgetProps) {
  const words = useTexts(fieldTexts);
  const fields = isJsonObject(value) ? value : {};
  return (
    <>
      <ul className={style.items}>
        {Object.entries(fields).map(([name, field], at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a name that is being written must not lose its field
          <li key={at} className={style.item} aria-label={name}>
            <div className={style.itemHead}>
              <KeyField
                name={name}
                taken={Object.keys(fields)}
                onChange={(next) => onChange(renamed(fields, name, next))}
              />
              <IconButton label={words.remove(name)} onClick={() => onChange(withValue(fields, name, undefined))}>
                <Trash2 size={14} aria-hidden="true" />
              </IconButton>
            </div>
            <InputField
              value={isJsonObject(field) ? field : {}}
              onChange={(next) => onChange({ ...fields, [name]: next })}
            />
          </li>
        ))}
      </ul>
      <NewEntry
        title={title}
        taken={Object.keys(fields)}
        onAdd={(name) => onChange({ ...fields, [name]: { type: 'line', name, optional: false } })}
      />
    </>
  );
}

interface InputFieldProps {
  readonly value: JsonObject;
  readonly onChange: (value: JsonObject) => void;
}

function InputField({ value, onChange }: InputFieldProps) {
  const words = useTexts(texts);
  const id = useId();
  const type = ownText(value, 'type') ?? 'line';
  const change = (name: string, next: Json) => onChange({ ...value, [name]: next });
  return (
    <div className={style.inputField}>
      <label htmlFor={`${id}-label`}>{words.label}</label>
      <input
        id={`${id}-label`}
        value={ownText(value, 'name') ?? ''}
        onChange={(event) => change('name', event.target.value)}
      />
      <label htmlFor={`${id}-type`}>{words.type}</label>
      <select id={`${id}-type`} value={type} onChange={(event) => change('type', event.target.value)}>
        {[...new Set([...TYPES, type])].map((one) => (
          <option key={one} value={one}>
            {words.types[one] ?? one}
          </option>
        ))}
      </select>
      {type === 'options' && (
        <>
          <label htmlFor={`${id}-options`}>{words.options}</label>
          <textarea
            id={`${id}-options`}
            rows={3}
            value={ownTexts(value, 'options').join('\n')}
            onChange={(event) => change('options', event.target.value.split('\n'))}
          />
        </>
      )}
      <label htmlFor={`${id}-optional`}>{words.optional}</label>
      <input
        id={`${id}-optional`}
        type="checkbox"
        checked={ownValue(value, 'optional') === true}
        onChange={(event) => change('optional', event.target.checked)}
      />
    </div>
  );
}
