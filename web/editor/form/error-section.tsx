/** What happens when a component fails: nothing, a value in its place, or another way on; and how often it is tried again. */
import { useId } from 'react';
import type { DocumentComponent } from '../../../src/dsl/document.js';
import { type ErrorHandling, handleErrors } from '../../../src/dsl/edit/index.js';
import { ownText } from '../../../src/dsl/json-copy.js';
import type { JsonObject } from '../../../src/json.js';
import { exceptionsOf } from '../../canvas/describe.js';
import { defineTexts, useTexts } from '../../shell/texts.js';
import { useEditor } from '../editor-context.js';
import { fieldsOf, withValue } from './field-model.js';
import { FieldView } from './field-view.js';
import form from './form.module.css';
import style from './inspector.module.css';

const texts = defineTexts({
  en: {
    title: 'When it fails',
    method: 'Then',
    none: 'The run fails',
    goto: 'Go on elsewhere',
    comment: 'Give a value',
    connect: 'Lead its red exit somewhere, or choose "On error" under "Leads to"; until then the run fails.',
  },
  zh: {
    title: '失败时',
    method: '处理方式',
    none: '运行失败',
    goto: '转到其他组件',
    comment: '给出一个值',
    connect: '请从红色出口连线，或在“通向”的“出错时”中选择；在此之前运行仍会失败。',
  },
});

/** Fields that stand here, and not among those of the schema. */
export const ERROR_FIELDS: ReadonlySet<string> = new Set([
  'exception_method',
  'exception_default_value',
  'exception_goto',
  'max_retries',
  'delay_after_error',
]);

const METHODS: readonly ErrorHandling[] = ['none', 'goto', 'comment'];

/** A section of the form of a component. */
export interface SectionProps {
  readonly component: DocumentComponent;
  readonly schema: JsonObject;
  readonly problems: ReadonlyMap<string, readonly string[]>;
  readonly onChange: (params: JsonObject) => void;
}

export function ErrorSection({ component: { id, params }, schema, problems, onChange }: SectionProps) {
  const words = useTexts(texts);
  const select = useId();
  const { store } = useEditor();
  const given = ownText(params, 'exception_method');
  const method = given === 'goto' || given === 'comment' ? given : 'none';
  const wanted = ['max_retries', 'delay_after_error', ...(method === 'comment' ? ['exception_default_value'] : [])];
  const fields = fieldsOf(schema).filter(({ name }) => wanted.includes(name));
  return (
    <section className={style.section} aria-label={words.title}>
      <h3>{words.title}</h3>
      <div className={form.field} data-field="exception_method">
        <label htmlFor={select}>{words.method}</label>
        <select
          id={select}
          value={method}
          onChange={(event) => {
            const handling = event.target.value as ErrorHandling;
            store.edit((document) => handleErrors(document, id, handling));
          }}
        >
          {METHODS.map((one) => (
            <option key={one} value={one}>
              {words[one]}
            </option>
          ))}
        </select>
        {method === 'goto' && exceptionsOf(params).length === 0 && <p className={form.about}>{words.connect}</p>}
      </div>
      {fields.map((field) => (
        <FieldView
          key={field.name}
          field={field}
          value={params[field.name]}
          onChange={(value) => onChange(withValue(params, field.name, value))}
          path={field.name}
          problems={problems.get(field.name) ?? []}
        />
      ))}
    </section>
  );
}
