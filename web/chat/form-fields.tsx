/** The fields of a form, each by its type. */
import { type ReactNode, useId } from 'react';
import type { Json } from '../../src/json.js';
import type { UploadedFile } from '../run/start-turn.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { FileDrop } from './file-drop.js';
import style from './form.module.css';
import { type FieldProblem, type FieldValues, type FormField, problemOf } from './form-model.js';

const texts = defineTexts({
  en: {
    optional: 'optional',
    choose: 'Choose …',
    problems: {
      missing: 'This is needed.',
      number: 'This must be a number.',
      integer: 'This must be a whole number.',
      json: 'This must be JSON.',
    } satisfies Record<FieldProblem, string>,
  },
  zh: {
    optional: '可选',
    choose: '请选择…',
    problems: {
      missing: '此项必填。',
      number: '此项必须是数字。',
      integer: '此项必须是整数。',
      json: '此项必须是 JSON。',
    } satisfies Record<FieldProblem, string>,
  },
});

export interface FormFieldsProps {
  readonly agent: string;
  readonly fields: readonly FormField[];
  readonly values: FieldValues;
  readonly onChange: (key: string, value: Json | undefined) => void;
  /** Whether problems are said. */
  readonly isChecked: boolean;
}

export function FormFields({ agent, fields, values, onChange, isChecked }: FormFieldsProps) {
  return fields.map((field) => (
    <Field
      key={field.key}
      agent={agent}
      field={field}
      value={values[field.key]}
      onChange={(value) => onChange(field.key, value)}
      isChecked={isChecked}
    />
  ));
}

interface FieldProps {
  readonly agent: string;
  readonly field: FormField;
  readonly value: Json | undefined;
  readonly onChange: (value: Json | undefined) => void;
  readonly isChecked: boolean;
}

function Field({ agent, field, value, onChange, isChecked }: FieldProps) {
  const words = useTexts(texts);
  const id = useId();
  const problem = isChecked ? problemOf(field, value) : undefined;
  const about = { id, 'aria-invalid': problem !== undefined, 'aria-describedby': problem && `${id}-problem` };
  return (
    <div className={style.field}>
      <label htmlFor={id}>
        {field.title}
        {field.isOptional && <span className={style.optional}> ({words.optional})</span>}
      </label>
      {field.kind === 'file' ? (
        <FileDrop
          id={id}
          agent={agent}
          files={Array.isArray(value) ? (value as unknown as readonly UploadedFile[]) : []}
          onChange={(files) => onChange(files as unknown as Json)}
        />
      ) : (
        control(field, value, onChange, about, words.choose)
      )}
      {problem !== undefined && (
        <p id={`${id}-problem`} className={style.problem}>
          {words.problems[problem]}
        </p>
      )}
    </div>
  );
}

function control(
  { kind, options }: FormField,
  value: Json | undefined,
  onChange: (value: Json | undefined) => void,
  about: { readonly id: string },
  choose: string,
): ReactNode {
  const text = typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
  switch (kind) {
    case 'boolean':
      return (
        <input
          {...about}
          type="checkbox"
          checked={value === true}
          onChange={({ target }) => onChange(target.checked)}
        />
      );
    case 'options':
      return (
        <select {...about} value={text} onChange={({ target }) => onChange(target.value)}>
          <option value="">{choose}</option>
          {options.map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      );
    case 'paragraph':
    case 'object':
      return <textarea {...about} rows={4} value={text} onChange={({ target }) => onChange(target.value)} />;
    default: {
      const mode = kind === 'integer' ? 'numeric' : kind === 'number' ? 'decimal' : 'text';
      return <input {...about} inputMode={mode} value={text} onChange={({ target }) => onChange(target.value)} />;
    }
  }
}
