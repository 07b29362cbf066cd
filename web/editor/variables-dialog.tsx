/** Variables of a canvas, which references name as `env.*`. */
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { Document } from '../../src/dsl/document.js';
import {
  addVariable,
  changeVariable,
  readersOfVariable,
  removeVariable,
  renameVariable,
} from '../../src/dsl/edit/index.js';
import { emptyOfType } from '../../src/dsl/globals.js';
import { ownText, ownValue } from '../../src/dsl/json-copy.js';
import { isJsonObject, type Json, type JsonObject } from '../../src/json.js';
import { Button, IconButton } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './editor.module.css';
import { useEditor, useEditorState } from './editor-context.js';
import { JsonField } from './form/json-widget.js';
import { KeyField, NewEntry } from './form/map-widget.js';

const texts = defineTexts({
  en: {
    title: 'Variables of the canvas',
    about: 'References name them as env.name; a VariableAssigner can change them in a conversation.',
    name: 'Variables',
    type: (name: string) => `Type of ${name}`,
    value: (name: string) => `Value of ${name}`,
    remove: (name: string) => `Remove ${name}`,
    rename: (name: string) => `Name of ${name}`,
    readers: (names: string) => `Used by ${names}`,
    isRead: (names: string) => `It is used by ${names}. What they refer to would be missing.`,
    removeStill: 'Remove it still',
    keep: 'Keep it',
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
    rename: (name: string) => `${name} 的名称`,
    readers: (names: string) => `使用者：${names}`,
    isRead: (names: string) => `${names} 正在使用它，删除后这些引用将没有值。`,
    removeStill: '仍然删除',
    keep: '保留',
    close: '关闭',
    none: 'DSL 版本 2 没有变量。',
  },
});

const EMPTY = { type: 'string', value: '', description: '' } as const;

const TYPES = ['string', 'number', 'boolean', 'object', 'array<string>', 'array<number>', 'array<object>'];

export function VariablesDialog({ onClose }: { readonly onClose: () => void }) {
  const words = useTexts(texts);
  const { store } = useEditor();
  const { document } = useEditorState();
  const { variables } = document;
  const add = (name: string) => store.edit((now) => addVariable(now, name, { name, ...EMPTY }));
  return (
    <Dialog title={words.title} onClose={onClose} isWide>
      <div className={style.variables}>
        <p>{document.version === 2 ? words.none : words.about}</p>
        {Object.entries(variables).map(([name, variable]) => (
          <VariableLine
            key={name}
            name={name}
            taken={Object.keys(variables)}
            variable={isJsonObject(variable) ? variable : {}}
          />
        ))}
        {document.version === 1 && (
          <NewEntry
            title={words.name}
            taken={Object.keys(variables)}
            onAdd={(name) => add(name.replace(/[^A-Za-z0-9_]+/g, '_'))}
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
  /** Names of all variables. */
  readonly taken: readonly string[];
}

function VariableLine({ name, variable, taken }: VariableLineProps) {
  const words = useTexts(texts);
  const { store } = useEditor();
  const [isAsking, setIsAsking] = useState(false);
  const readers = namesOfReaders(store.document, name);
  const remove = () => store.edit((now) => removeVariable(now, name));
  const onChange = (next: JsonObject) =>
    store.edit((now) => changeVariable(now, name, next), { about: `variables ${name}` });
  const type = ownText(variable, 'type') ?? 'string';
  const value = ownValue(variable, 'value');
  const change = (next: Json | undefined) => onChange({ ...variable, value: next ?? emptyOfType(type) });
  return (
    <div className={style.variable}>
      <div className={style.variableName}>
        <code>env.</code>
        <KeyField
          name={name}
          label={words.rename(name)}
          taken={taken}
          onChange={(next) => store.edit((now) => renameVariable(now, name, next.replace(/[^A-Za-z0-9_]+/g, '_')))}
        />
      </div>
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
      <IconButton label={words.remove(name)} onClick={() => (readers.length === 0 ? remove() : setIsAsking(true))}>
        <Trash2 size={15} aria-hidden="true" />
      </IconButton>
      {isAsking ? (
        <p className={style.variableWarning} role="alert">
          {words.isRead(readers.join(', '))}
          <Button look="danger" onClick={remove}>
            {words.removeStill}
          </Button>
          <Button onClick={() => setIsAsking(false)}>{words.keep}</Button>
        </p>
      ) : (
        readers.length > 0 && <small className={style.variableReaders}>{words.readers(readers.join(', '))}</small>
      )}
    </div>
  );
}

function namesOfReaders(document: Document, name: string): readonly string[] {
  return readersOfVariable(document, name).map((id) => document.components[id]?.name ?? id);
}
