/** Parameters as a form: common fields first, the others folded. */
import { useMemo, useState } from 'react';
import type { JsonObject } from '../../../src/json.js';
import { useTexts } from '../../shell/texts.js';
import { type Field, fieldsOf, groupFields, withValue } from './field-model.js';
import { fieldTexts } from './field-texts.js';
import style from './form.module.css';
import { useFieldView } from './widget.js';

export interface SchemaFormProps {
  readonly schema: JsonObject;
  readonly params: JsonObject;
  /** Where the parameters stand, in front of names of fields; empty for those of the component itself. */
  readonly path: string;
  readonly onChange: (params: JsonObject) => void;
  /** What is wrong, by the first part of a field's path. */
  readonly problems?: ReadonlyMap<string, readonly string[]>;
  /** Fields that stand elsewhere. @default none */
  readonly without?: ReadonlySet<string> | undefined;
}

const NONE: ReadonlySet<string> = new Set();

export function SchemaForm({ schema, params, path, onChange, problems, without = NONE }: SchemaFormProps) {
  const words = useTexts(fieldTexts);
  const FieldView = useFieldView();
  const fields = useMemo(
    () => fieldsOf(schema).filter(({ kind, name }) => kind !== 'targets' && !without.has(name)),
    [schema, without],
  );
  // A field stays where it is while something is written into it.
  const [{ common, rest }] = useState(() => groupFields(fields, params));
  const view = (field: Field) => (
    <FieldView
      key={field.name}
      field={field}
      value={params[field.name]}
      onChange={(value) => onChange(withValue(params, field.name, value))}
      path={path === '' ? field.name : `${path}.${field.name}`}
      problems={problems?.get(field.name) ?? []}
    />
  );
  return (
    <>
      {common.map(view)}
      {rest.length > 0 && (
        <details className={style.rest}>
          <summary>{words.more(rest.length)}</summary>
          {rest.map(view)}
        </details>
      )}
    </>
  );
}
