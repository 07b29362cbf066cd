/** Variables of a canvas, which references name as `env.*`. */
import { Trash2 } from 'lucide-react';
import { emptyOfType } from '../../src/dsl/globals.js';
import { ownText, ownValue } from '../../src/dsl/json-copy.js';
import { isJsonObject, type Json, type JsonObject } from '../../src/json.js';
import { Button, IconButton } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './editor.module.css';
import { useEditor, useEditorState } from './editor-context.js';
import { withValue } from './form/field-model.js';
import { JsonField } from './form/json-widget.js';
import { NewEntry } from './form/map-widget.js';

const texts = defineTexts({
  en: {
    title: 'Variables of the canvas',
    about: 'References name them as env.name; a VariableAssigner can change them in a conversation.',
    name: 'Variables',
    type: (name: string) => `Type of ${name}`,
    value: (name: string) => `Value of ${name}`,
    remove: (name: string) => `Remove ${name}`,
    close: 'Close',
    none: 'Version 2 of the DSL has no variables.',
  },
  zh: {
    title: '画布变量',
    about: '引用时写作 env.名称；VariableAssigner 可在对话中修改。',
    name: '变量',
    type: (name: string) => `${name} 的类型`,
    value: (name: string) => `${name} 的值`,
    remove: (name: string) => `删除 ${name}`,
    close: '关闭',
    none: 'DSL 版本 2 没有变量。',
  },
});

const TYPES = ['string', 'number', 'boolean', 'object', 'array<string>', 'array<number>', 'array<object>'];

export function VariablesDialog({ onClose }: { readonly onClose: () => void }) {
  const words = useTexts(texts);
  const { store } = useEditor();
  const { document } = useEditorState();
  const { variables } = document;
  const change = (next: JsonObject, about: string) =>
    store.edit((now) => ({ document: { ...now, variables: next }, ids: [] }), { about: `variables ${about}` });
  const add = (name: string) =>
    change({ ...variables, [name]: { name, type: 'string', value: '', description: '' } }, '');
  return (
    <Dialog title={words.title} onClose={onClose} isWide>
      <div className={style.variables}>
        <p>{document.version === 2 ? words.none : words.about}</p>
        {Object.entries(variables).map(([name, variable]) => (
          <VariableLine
            key={name}
            name={name}
            variable={isJsonObject(variable) ? variable : {}}
            onChange={(next) => change(withValue(variables, name, next), name)}
          />
        ))}
        {document.version === 1 && (
          <NewEntry
            title={words.name}
            taken={Object.keys(variables)}
            onAdd={(name) => add(name.replace(/\W+/g, '_'))}
          />
        )}
        <div className={style.actions}>
          <Button look="main" onClick={onClose}>
            {words.close}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

interface VariableLineProps {
  readonly name: string;
  readonly variable: JsonObject;
  readonly onChange: (variable: JsonObject | undefined) => void;
}

function VariableLine({ name, variable, onChange }: VariableLineProps) {
  const words = useTexts(texts);
  const type = ownText(variable, 'type') ?? 'string';
  const value = ownValue(variable, 'value');
  const change = (next: Json | undefined) => onChange({ ...variable, value: next ?? emptyOfType(type) });
  return (
    <div className={style.variable}>
      <code>env.{name}</code>
      <select
        aria-label={words.type(name)}
        value={type}
        onChange={(event) =>
          onChange({ ...variable, type: event.target.value, value: emptyOfType(event.target.value) })
        }
      >
        {[...new Set([...TYPES, type])].map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      <div>
        {type === 'string' ? (
          <textarea
            aria-label={words.value(name)}
            rows={1}
            value={typeof value === 'string' ? value : ''}
            onChange={(event) => change(event.target.value)}
          />
        ) : (
          <JsonField label={words.value(name)} rows={1} value={value} about={`variable ${name}`} onChange={change} />
        )}
      </div>
      <IconButton label={words.remove(name)} onClick={() => onChange(undefined)}>
        <Trash2 size={15} aria-hidden="true" />
      </IconButton>
    </div>
  );
}
