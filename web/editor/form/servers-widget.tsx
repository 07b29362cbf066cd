/** MCP servers whose tools a model may call. */
import { ownObject, ownText } from '../../../src/dsl/json-copy.js';
import type { Json, JsonObject } from '../../../src/json.js';
import type { ListedMcpServer } from '../../../src/transport/mcp/server-shapes.js';
import { defineTexts, useTexts } from '../../shell/texts.js';
import { useMcpServers } from '../model/use-models.js';
import { itemsOf, withValue } from './field-model.js';
import style from './form.module.css';
import type { WidgetProps } from './widget.js';

const texts = defineTexts({
  en: {
    none: 'This server has no MCP servers. RUNNEL_MCP_SERVERS names them.',
    unknown: 'This server does not have it.',
    all: 'all tools',
    some: (count: number) => (count === 1 ? '1 tool' : `${count} tools`),
    failed: 'does not answer',
  },
  zh: {
    none: '此服务器没有 MCP 服务器。由 RUNNEL_MCP_SERVERS 指定。',
    unknown: '此服务器没有它。',
    all: '全部工具',
    some: (count: number) => `${count} 个工具`,
    failed: '没有响应',
  },
});

export function ServersWidget({ value, onChange }: WidgetProps) {
  const words = useTexts(texts);
  const { data = [] } = useMcpServers();
  const chosen = itemsOf(value);
  const idOf = (one: Json) => ownText(one, 'mcp_id') ?? '';
  const unknown = chosen.filter((one) => !data.some(({ id }) => id === idOf(one)));
  const without = (id: string) => chosen.filter((one) => idOf(one) !== id);
  if (data.length === 0 && chosen.length === 0) return <p className={style.about}>{words.none}</p>;
  return (
    <ul className={style.items}>
      {data.map((server) => (
        <Server
          key={server.id}
          server={server}
          entry={chosen.find((one) => idOf(one) === server.id)}
          onChange={(entry) => onChange(entry === undefined ? without(server.id) : [...without(server.id), entry])}
        />
      ))}
      {unknown.map((one) => (
        <li key={idOf(one)} className={style.item}>
          <label className={style.check}>
            <input type="checkbox" checked onChange={() => onChange(without(idOf(one)))} /> {idOf(one)}
          </label>
          <p className={style.problem}>{words.unknown}</p>
        </li>
      ))}
    </ul>
  );
}

interface ServerProps {
  readonly server: ListedMcpServer;
  /** What the document says of it; undefined when it is not used. */
  readonly entry: Json | undefined;
  readonly onChange: (entry: Json | undefined) => void;
}

/** Without a list of tools the model may call all of them. */
function Server({ server: { id, status, tools }, entry, onChange }: ServerProps) {
  const words = useTexts(texts);
  const named: JsonObject = ownObject(entry, 'tools') ?? {};
  const count = Object.keys(named).length;
  const turn = (name: string, isOn: boolean) => {
    const tool = tools.find((one) => one.name === name);
    const about = tool && { name, description: tool.description, inputSchema: tool.parameters as JsonObject };
    const next = withValue(named, name, isOn ? (about ?? {}) : undefined);
    onChange({ ...(ownObject({ entry: entry ?? {} }, 'entry') ?? {}), mcp_id: id, tools: next });
  };
  return (
    <li className={style.item}>
      <label className={style.check}>
        <input
          type="checkbox"
          checked={entry !== undefined}
          onChange={(event) => onChange(event.target.checked ? { mcp_id: id, tools: {} } : undefined)}
        />{' '}
        {id} <small>{status === 'ok' ? (count === 0 ? words.all : words.some(count)) : words.failed}</small>
      </label>
      {entry !== undefined && tools.length > 0 && (
        <details className={style.inner}>
          <summary>{words.some(tools.length)}</summary>
          {tools.map(({ name, description }) => (
            <label key={name} className={style.check} title={description}>
              <input type="checkbox" checked={name in named} onChange={(event) => turn(name, event.target.checked)} />{' '}
              {name}
            </label>
          ))}
        </details>
      )}
    </li>
  );
}
