/** What leads to a component, and how several ways to it come together: the modes are those of its schema. */
import { useMemo } from 'react';
import { allTargetsOf, resolverOf } from '../../../src/dsl/edit/index.js';
import { defineTexts, useTexts } from '../../shell/texts.js';
import { useEditor } from '../editor-context.js';
import type { SectionProps } from './error-section.js';
import { fieldsOf, withValue } from './field-model.js';
import { FieldView } from './field-view.js';
import style from './inspector.module.css';

const texts = defineTexts({
  en: { title: 'Reached from', none: 'Nothing leads here yet.' },
  zh: { title: '来自', none: '还没有任何组件通向这里。' },
});

/** Fields that stand here, and not among those of the schema. */
export const JOIN_FIELDS: ReadonlySet<string> = new Set(['join_mode']);

export function JoinSection({ component: { id, params }, schema, problems, onChange }: SectionProps) {
  const words = useTexts(texts);
  const { store } = useEditor();
  const { document } = store;
  const sources = useMemo(() => {
    const resolve = resolverOf(document);
    return Object.values(document.components).filter((one) => allTargetsOf(one, resolve).has(id));
  }, [document, id]);
  const fields = useMemo(() => fieldsOf(schema).filter(({ name }) => JOIN_FIELDS.has(name)), [schema]);
  return (
    <section className={style.section} aria-label={words.title}>
      <h3>{words.title}</h3>
      {sources.length === 0 && <p>{words.none}</p>}
      <ul className={style.sources}>
        {sources.map((source) => (
          <li key={source.id}>
            <button type="button" className={style.target} onClick={() => store.select([source.id])}>
              {source.name}
            </button>
          </li>
        ))}
      </ul>
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
