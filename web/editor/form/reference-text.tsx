/** A text with references: what may be referred to is offered, and what is stands below as chips. */
import { AtSign } from 'lucide-react';
import { useMemo, useRef } from 'react';
import { IconButton } from '../../parts/button.js';
import { Menu } from '../../parts/menu.js';
import { MenuItem } from '../../parts/menu-item.js';
import { useTexts } from '../../shell/texts.js';
import { useEditor } from '../editor-context.js';
import { referencesIn, type Source, sourcesFor } from '../model/references.js';
import { fieldTexts } from './field-texts.js';
import style from './form.module.css';
import { useFormNode } from './form-node.js';
import type { WidgetProps } from './widget.js';

export interface ReferenceTextProps extends WidgetProps {
  readonly rows: number;
  /** All of it is one reference. @default false */
  readonly isReference?: boolean;
  /** Its name where no label says it. */
  readonly label?: string | undefined;
}

export function ReferenceText({ id, title, value, onChange, rows, isReference = false, label }: ReferenceTextProps) {
  const words = useTexts(fieldTexts);
  const element = useRef<HTMLTextAreaElement>(null);
  const text = typeof value === 'string' ? value : '';
  const insert = ({ key }: Source) => {
    const field = element.current;
    if (isReference || field === null) {
      onChange(isReference ? key : `${text}{${key}}`);
      return;
    }
    const [start, end] = [field.selectionStart, field.selectionEnd];
    onChange(`${text.slice(0, start)}{${key}}${text.slice(end)}`);
    field.focus();
  };
  return (
    <>
      <div className={style.text}>
        <textarea
          ref={element}
          id={id}
          aria-label={label}
          rows={rows}
          className={rows === 1 ? style.line : style.long}
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
        <SourceMenu label={isReference ? `${words.choose}: ${title}` : `${words.insert}: ${title}`} onChoose={insert} />
      </div>
      <ReferenceChips text={text} isReference={isReference} />
    </>
  );
}

const GROUPS = ['output', 'alias', 'sys', 'env'] as const;

function SourceMenu({ label, onChoose }: { readonly label: string; readonly onChoose: (source: Source) => void }) {
  return (
    <Menu
      opener={
        <IconButton label={label} className={style.at}>
          <AtSign size={14} aria-hidden="true" />
        </IconButton>
      }
    >
      <SourceItems onChoose={onChoose} />
    </Menu>
  );
}

/** Found when the menu is opened. */
function SourceItems({ onChoose }: { readonly onChoose: (source: Source) => void }) {
  const words = useTexts(fieldTexts);
  const { store, catalogue } = useEditor();
  const node = useFormNode();
  const sources = useMemo(() => sourcesFor(store.document, node, catalogue), [store, node, catalogue]);
  return (
    <div className={style.sources}>
      {GROUPS.map((group) => {
        const members = sources.filter((one) => one.group === group);
        return members.length === 0 ? null : (
          <div key={group}>
            <p className={style.sourceGroup}>{words.groups[group]}</p>
            {members.map((source) => (
              <MenuItem key={source.key} onSelect={() => onChoose(source)}>
                {source.name}
              </MenuItem>
            ))}
          </div>
        );
      })}
    </div>
  );
}

function ReferenceChips({ text, isReference }: { readonly text: string; readonly isReference: boolean }) {
  const words = useTexts(fieldTexts);
  const { store, catalogue } = useEditor();
  const node = useFormNode();
  const { document } = store;
  const found = useMemo(
    () => (text === '' ? [] : referencesIn(text, { document, id: node, catalogue, isReference })),
    [text, document, node, catalogue, isReference],
  );
  if (found.length === 0) return null;
  return (
    <ul className={style.chips} aria-label={words.references}>
      {found.map(({ key, name, problem }) => (
        <li
          key={key}
          className={problem === undefined ? style.chip : style.brokenChip}
          title={problem && words.problems[problem]}
        >
          {name}
          {problem !== undefined && <span className="unseen">: {words.problems[problem]}</span>}
        </li>
      ))}
    </ul>
  );
}
