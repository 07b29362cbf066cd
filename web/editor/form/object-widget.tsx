/** The fields of an object, such as an item of a list. */
import type { Json, JsonObject } from '../../../src/json.js';
import { isJsonObject } from '../../../src/json.js';
import { fieldsOf, withValue } from './field-model.js';
import { useFieldView, type WidgetProps } from './widget.js';

export function ObjectWidget({ field, value, onChange, path }: WidgetProps) {
  return (
    <ObjectFields
      schema={field.schema}
      root={field.root}
      value={isJsonObject(value) ? value : {}}
      onChange={onChange}
      path={path}
    />
  );
}

export interface ObjectFieldsProps {
  readonly schema: JsonObject;
  readonly root: JsonObject;
  readonly value: JsonObject;
  readonly onChange: (value: Json) => void;
  readonly path: string;
}

export function ObjectFields({ schema, root, value, onChange, path }: ObjectFieldsProps) {
  const FieldView = useFieldView();
  return fieldsOf(schema, root).map((field) => (
    <FieldView
      key={field.name}
      field={field}
      value={value[field.name]}
      onChange={(next) => onChange(withValue(value, field.name, next))}
      path={`${path}.${field.name}`}
    />
  ));
}
