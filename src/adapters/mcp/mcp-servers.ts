/** The MCP servers that the operator declared: a service of runs. */
import { defer, noop, type Observable, throwError } from 'rxjs';
import type { JsonObject } from '../../json.js';
import { Newest } from '../../newest.js';
import { shareByKey, type UseShared } from '../../operators/share-by-key.js';
import type { TraceContext } from '../../trace-context.js';
import { toolFailed } from '../failures.js';
import { type CachedList, MAX_LISTS, McpConnection, type McpTool } from './mcp-connection.js';
import { type ServerSettings, serverHeaders } from './mcp-settings.js';
import { type McpSession, type OpenOptions, openSession } from './open-session.js';

export type { McpConnection, McpTool };

/** The run that uses a server. */
export interface McpUser {
  /** Id of the run: within it, all users share one session. */
  readonly run: string;
  /** Headers of this run for tools that declare them. */
  readonly headers: JsonObject;
  /** Passed on when the session is opened. */
  readonly trace: TraceContext;
}

/** One declared server. */
export interface McpServer {
  readonly id: string;
  /**
   * Lets `work` use the server. Opens nothing before the work asks for something; what is open is closed behind the last
   * user of the run. Errors: those of the work.
   */
  use<T>(user: McpUser, work: (connection: McpConnection) => Observable<T>): Observable<T>;
}

/** The servers of one tenant. */
export interface McpServers {
  /** Undefined: there is none of that name, or not for this tenant. */
  find(id: string): McpServer | undefined;
  /** Ids of all servers of this tenant, in the order of their declarations. */
  ids(): readonly string[];
  /** The same servers as another tenant sees them. */
  forTenant(tenant: string): McpServers;
  /** Resolves when everything that was left is closed. */
  close(): Promise<void>;
}

/** Programs of all servers and runs together. */
const MAX_PROGRAMS = 32;

/** How servers are reached. */
export type McpServersOptions = OpenOptions['egress'];

/**
 * Makes the service from what `readMcpSettings` gives. Programs are started, and URLs reached, only where the operator
 * wrote them; documents name servers by id.
 */
export function createMcpServers(
  declared: ReadonlyMap<string, ServerSettings>,
  egress: McpServersOptions = {},
): McpServers {
  const closing = new Set<Promise<void>>();
  const onClosing = (closed: Promise<void>): void => {
    const done = closed.catch(noop).finally(() => closing.delete(done));
    closing.add(done);
  };
  const lists = new Newest<CachedList>({ maxCount: MAX_LISTS });
  const programs = { running: 0 };
  const use = shareByKey<Place, McpConnection>({
    keyOf: ({ tenant, id, user, headers }) => JSON.stringify([tenant, id, user.run, headers]),
    open: (place) => connect(place, { egress, onClosing, lists, programs }),
  });
  return serversOf(declared, undefined, use, async () => {
    while (closing.size > 0) await Promise.all([...closing]);
  });
}

/** The users of each server, and the headers of every request. */
interface Place {
  readonly tenant: string | undefined;
  readonly id: string;
  readonly settings: ServerSettings;
  readonly user: McpUser;
  readonly headers: Readonly<Record<string, string>>;
}

function serversOf(
  declared: ReadonlyMap<string, ServerSettings>,
  tenant: string | undefined,
  use: UseShared<Place, McpConnection>,
  close: () => Promise<void>,
): McpServers {
  const mayUse = ({ tenants }: ServerSettings): boolean =>
    tenants === undefined || (tenant !== undefined && tenants.includes(tenant));
  return {
    ids: () => [...declared].flatMap(([id, settings]) => (mayUse(settings) ? [id] : [])),
    find(id) {
      const settings = declared.get(id);
      if (settings === undefined || !mayUse(settings)) return undefined;
      return {
        id,
        use(user, work) {
          const headers = settings.type === 'stdio' ? {} : serverHeaders(settings, user.headers);
          return use({ tenant, id, settings, user, headers }, work);
        },
      };
    },
    forTenant: (other) => serversOf(declared, other, use, close),
    close,
  };
}

interface Shared extends Pick<OpenOptions, 'egress' | 'onClosing'> {
  readonly lists: Newest<CachedList>;
  readonly programs: { running: number };
}

function connect(
  { tenant, id, settings, user, headers }: Place,
  { egress, onClosing, lists, programs }: Shared,
): McpConnection {
  const options: OpenOptions = { headers, trace: user.trace, egress, onClosing };
  return new McpConnection({
    server: id,
    timeoutSeconds: settings.timeout,
    secrets: secretsOf(settings, headers),
    open: () => (settings.type === 'stdio' ? openProgram(settings, options, programs) : openSession(settings, options)),
    lists,
    listKey: JSON.stringify([tenant, id, headers]),
    now: Date.now,
  });
}

/** Users start runs, runs start programs, and a machine has room for so many; one counts until it is gone. */
function openProgram(
  settings: ServerSettings,
  options: OpenOptions,
  programs: { running: number },
): Observable<McpSession> {
  return defer(() => {
    if (programs.running >= MAX_PROGRAMS) {
      return throwError(() => toolFailed(`${MAX_PROGRAMS} programs run already, which is the most; try again later.`));
    }
    programs.running += 1;
    const gone = (): void => {
      programs.running -= 1;
    };
    const onClosing = (closed: Promise<void>): void => options.onClosing(closed.finally(gone));
    return openSession(settings, { ...options, onClosing });
  });
}

/** Values that were sent in confidence, and the parts of those that have a scheme in front. */
function secretsOf(settings: ServerSettings, headers: Place['headers']): readonly string[] {
  const given = settings.type === 'stdio' ? Object.values(settings.env) : Object.values(settings.variables);
  return [...Object.values(headers), ...given].flatMap((value) => [value, value.replace(/^\S+\s+/, '')]);
}
