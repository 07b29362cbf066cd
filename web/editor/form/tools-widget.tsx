/** What a model may call: tools, and agents below it, each with its own parameters. */
import { Trash2 } from 'lucide-react';
import { useId } from 'react';
import { ownObject, ownText } from '../../../src/dsl/json-copy.js';
import { isJsonObject, type Json } from '../../../src/json.js';
import { kindOf } from '../../canvas/kinds.js';
import { IconButton } from '../../parts/button.js';
import { defineTexts, useTexts } from '../../shell/texts.js';
import { useEditor } from '../editor-context.js';
import { entryOf } from '../model/catalogue.js';
import { firstParams } from '../model/starters.js';
import { itemsOf } from './field-model.js';
import { fieldTexts } from './field-texts.js';
import style from './form.module.css';
import { SchemaForm } from './schema-form.js';
import type { WidgetProps } from './widget.js';

const texts = defineTexts({
  en: {
    add: 'Add a tool or an agent',
    name: 'Name for the model',
    tools: 'Tools',
    agents: 'Agents',
    form: 'Parameters',
  },
  zh: { add: '添加工具或智能体', name: '供模型使用的名称', tools: '工具', agents: '智能体', form: '参数' },
});

export function ToolsWidget({ value, onChange, path }: WidgetProps) {
  const words = useTexts(fieldTexts);
  const tools = itemsOf(value);
  return (
    <>
      <ol className={style.items}>
        {tools.map((tool, at) => {
          const type = typeof tool === 'string' ? tool : (ownText(tool, 'component_name') ?? '');
          const name = ownText(tool, 'name') || type;
          const { icon: Icon } = kindOf(type);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: tools have no other identity
            <li key={at} className={style.item} aria-label={name}>
              <div className={style.itemHead}>
                <Icon size={14} aria-hidden="true" />
                <span className={style.itemName}>{name}</span>
                <IconButton
                  label={words.remove(name)}
                  onClick={() => onChange(tools.filter((_, index) => index !== at))}
                >
                  <Trash2 size={14} aria-hidden="true" />
                </IconButton>
              </div>
              <Tool
                tool={tool}
                type={type}
                path={`${path}.${at}`}
                onChange={(next) => onChange(tools.map((one, index) => (index === at ? next : one)))}
              />
            </li>
          );
        })}
      </ol>
      <ToolSelect onAdd={(tool) => onChange([...tools, tool])} />
    </>
  );
}

interface ToolProps {
  readonly tool: Json;
  readonly type: string;
  readonly path: string;
  readonly onChange: (tool: Json) => void;
}

function Tool({ tool, type, path, onChange }: ToolProps) {
  const words = useTexts(texts);
  const { catalogue } = useEditor();
  const id = useId();
  const entry = entryOf(catalogue, type);
  const written = isJsonObject(tool) ? tool : { component_name: type, params: {} };
  return (
    <details className={style.inner}>
      <summary>{words.form}</summary>
      <div className={style.field}>
        <label htmlFor={id}>{words.name}</label>
        <input
          id={id}
          value={ownText(written, 'name') ?? ''}
          onChange={(event) => onChange({ ...written, name: event.target.value })}
        />
      </div>
      {entry !== undefined && (
        <SchemaForm
          schema={entry.parameters as never}
          params={ownObject(written, 'params') ?? {}}
          path={path}
          onChange={(params) => onChange({ ...written, params })}
        />
      )}
    </details>
  );
}

/** Tools, and every type that may itself have tools. */
function ToolSelect({ onAdd }: { readonly onAdd: (tool: Json) => void }) {
  const words = useTexts(texts);
  const { entries, model } = useEditor();
  const own = entries.filter(({ canvas }) => canvas === 'agent');
  const agents = own.filter(({ parameters }) => 'tools' in (ownObject(parameters, 'properties') ?? {}));
  const tools = own.filter(({ group }) => ['tools', 'web', 'knowledge'].includes(group));
  const add = (type: string) => {
    const entry = own.find(({ name }) => name === type);
    if (entry === undefined) return;
    const params = firstParams(entry.parameters as never, model);
    onAdd({ component_name: type, name: type, params });
  };
  return (
    <select className={style.add} aria-label={words.add} value="" onChange={(event) => add(event.target.value)}>
      <option value="">{words.add}</option>
      <optgroup label={words.tools}>
        {tools.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </optgroup>
      <optgroup label={words.agents}>
        {agents.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </optgroup>
    </select>
  );
}
