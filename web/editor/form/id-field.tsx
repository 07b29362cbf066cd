/** The id of a component, which references say: it is changed when its field is left. */
import { useId, useState } from 'react';
import type { DocumentComponent } from '../../../src/dsl/document.js';
import { changeId } from '../../../src/dsl/edit/index.js';
import { useTexts } from '../../shell/texts.js';
import { useEditor } from '../editor-context.js';
import style from './inspector.module.css';
import { inspectorTexts } from './inspector-texts.js';

export function IdField({ component: { id } }: { readonly component: DocumentComponent }) {
  const words = useTexts(inspectorTexts);
  const field = useId();
  const { store } = useEditor();
  const [text, setText] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const leave = () => {
    const next = text?.trim() ?? id;
    if (next === id) {
      setText(undefined);
      setProblem(undefined);
      return;
    }
    const refused = store.edit((document) => changeId(document, id, next), {
      selects: true,
      move: (spots) => {
        const moved = new Map(spots);
        const spot = moved.get(id);
        moved.delete(id);
        return spot === undefined ? moved : moved.set(next, spot);
      },
    });
    setProblem(refused?.message);
  };
  return (
    <section className={style.section}>
      <label htmlFor={field}>{words.id}</label>
      <input
        id={field}
        className={style.id}
        value={text ?? id}
        aria-invalid={problem !== undefined}
        onChange={(event) => setText(event.target.value)}
        onBlur={leave}
        onKeyDown={(event) => {
          if (event.key === 'Enter') leave();
        }}
      />
      <p className={problem === undefined ? style.summary : style.problem}>{problem ?? words.idAbout}</p>
    </section>
  );
}
