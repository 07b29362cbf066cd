/** The MCP servers that agents may use, with their tools. */
import { useQuery } from '@tanstack/react-query';
import type { ListedMcpServer } from '../../src/transport/mcp/server-shapes.js';
import { ErrorNote, LoadingNote } from '../parts/notes.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { Section } from './section.js';
import style from './settings.module.css';
import { settingsTexts } from './settings-texts.js';

/** Asking for them connects to each, so it is done only where there are some. */
export function McpSection({ isThere }: { readonly isThere: boolean }) {
  const words = useTexts(settingsTexts);
  const client = useClient();
  const { data, error, refetch } = useQuery({
    queryKey: ['mcp-servers'],
    queryFn: ({ signal }) => client.call<readonly ListedMcpServer[]>('/mcp/servers', { signal }),
    enabled: isThere,
  });
  return (
    <Section title={words.mcp}>
      {(!isThere || data?.length === 0) && <p className={style.soft}>{words.noMcp}</p>}
      {isThere && data === undefined && error === null && <LoadingNote />}
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      <ul className={style.servers}>
        {data?.map(({ id, status, error: why, tools }) => (
          <li key={id}>
            <strong>{id}</strong>{' '}
            <span className={status === 'ok' ? style.fine : style.worse}>{words.mcpStates[status]}</span>
            {why !== undefined && <p className={style.worse}>{why}</p>}
            {tools.length > 0 && (
              <details>
                <summary>{words.tools(tools.length)}</summary>
                <ul>
                  {tools.map(({ name, description }) => (
                    <li key={name}>
                      <code>{name}</code> {description}
                    </li>
                  ))}
                </ul>
              </details>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}
