/** A field with its name, what it is for, and the widget that its schema asks for. */
import { useId } from 'react';
import { useTexts } from '../../shell/texts.js';
import { AnyWidget } from './any-widget.js';
import { CodeWidget } from './code-widget.js';
import { fieldTexts, titleOf } from './field-texts.js';
import style from './form.module.css';
import { InputsWidget } from './inputs-widget.js';
import { JsonWidget } from './json-widget.js';
import { ListWidget } from './list-widget.js';
import { MapWidget } from './map-widget.js';
import { ModelWidget } from './model-widget.js';
import { ObjectWidget } from './object-widget.js';
import { ReferenceText } from './reference-text.js';
import { ServersWidget } from './servers-widget.js';
import { LinesWidget, NumberWidget, OptionsWidget, SecretWidget, SwitchWidget } from './simple-widgets.js';
import { TextsWidget } from './texts-widget.js';
import { ToolsWidget } from './tools-widget.js';
import type { FieldViewProps, WidgetProps } from './widget.js';

/** Kinds that are groups of fields, and so have no label of their own. */
const GROUPS: ReadonlySet<string> = new Set(['list', 'map', 'object', 'inputs', 'tools', 'servers']);

const NONE: readonly string[] = [];

export function FieldView({ field, value, onChange, path, problems = NONE }: FieldViewProps) {
  const words = useTexts(fieldTexts);
  const id = useId();
  const title = titleOf(field.name, words.names);
  const Widget = WIDGETS[field.kind];
  if (Widget === undefined) return null;
  const isGroup = GROUPS.has(field.kind);
  const widget = <Widget field={field} id={id} title={title} value={value} onChange={onChange} path={path} />;
  const body = (
    <>
      {field.about !== '' && <p className={style.about}>{withCode(field.about)}</p>}
      {problems.map((problem) => (
        <p key={problem} className={style.problem}>
          {problem}
        </p>
      ))}
    </>
  );
  if (isGroup) {
    return (
      <fieldset className={style.group} data-field={path}>
        <legend>
          {title}
          {field.isRequired && <small className={style.required}>{words.required}</small>}
        </legend>
        {body}
        {widget}
      </fieldset>
    );
  }
  return (
    <div className={field.kind === 'switch' ? `${style.field} ${style.inline}` : style.field} data-field={path}>
      <label htmlFor={id} title={field.name}>
        {title}
        {field.isRequired && <small className={style.required}>{words.required}</small>}
      </label>
      {widget}
      {body}
    </div>
  );
}

const WIDGETS: Readonly<Record<string, (props: WidgetProps) => React.ReactNode>> = {
  text: (props) => <ReferenceText {...props} rows={1} />,
  long: (props) => <ReferenceText {...props} rows={3} />,
  reference: (props) => <ReferenceText {...props} rows={1} isReference />,
  secret: SecretWidget,
  number: NumberWidget,
  switch: SwitchWidget,
  options: OptionsWidget,
  model: ModelWidget,
  texts: TextsWidget,
  lines: LinesWidget,
  list: ListWidget,
  object: ObjectWidget,
  map: MapWidget,
  inputs: InputsWidget,
  tools: ToolsWidget,
  servers: ServersWidget,
  any: AnyWidget,
  code: CodeWidget,
  json: JsonWidget,
};

/** Descriptions put names and values between backticks. */
function withCode(text: string): React.ReactNode {
  const parts = text.split('`');
  // biome-ignore lint/suspicious/noArrayIndexKey: a description never changes
  return parts.map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part));
}
