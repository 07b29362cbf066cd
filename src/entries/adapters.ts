/**
 * `runnel/adapters`: the ways out of the process, for programs that put their own services together: the HTTP client that checks every
 * address, browsers, sandboxes for code, databases, servers of tools, threads for files.
 */

export type { ActionOutcome, BrowserAction, BrowserActionName, PageView } from '../adapters/browser/action.js';
export {
  type BrowserSession,
  type Browsers,
  type BrowsersOptions,
  createBrowsers,
  type OpenOptions,
} from '../adapters/browser/browsers.js';
export type { ChromiumProcess } from '../adapters/browser/chromium-process.js';
export type { BrowserFile, DownloadLimits } from '../adapters/browser/downloads.js';
export type { Dial } from '../adapters/browser/guard-proxy.js';
export type { UploadFile } from '../adapters/browser/session.js';
export type { EgressConnection, EgressTarget } from '../adapters/egress/connect.js';
export type { DialOptions, Resolver } from '../adapters/egress/dial.js';
export {
  createEgressClient,
  type EgressClient,
  type EgressOptions,
  type EgressRequest,
  type EgressResponse,
} from '../adapters/egress/egress-client.js';
export type { Answer } from '../adapters/egress/follow.js';
export type { Headers, HttpMethod } from '../adapters/egress/request-headers.js';
export type { Destination, Hop, Transport, WireAnswer } from '../adapters/egress/transport.js';
export type { CachedList, ConnectionOptions, McpCall, McpConnection, McpTool } from '../adapters/mcp/mcp-connection.js';
export type { FailureContext } from '../adapters/mcp/mcp-failures.js';
export type { McpServer, McpServers, McpUser } from '../adapters/mcp/mcp-servers.js';
export type { McpSession } from '../adapters/mcp/open-session.js';
export type {
  CodeArtifact,
  CodeLanguage,
  CodeLimit,
  CodeRequest,
  CodeResult,
  CodeRunner,
  CodeStatus,
} from '../adapters/sandbox/code-runner.js';
export { createEmbeddedRunner, type EmbeddedRunnerOptions } from '../adapters/sandbox/embedded/embedded-runner.js';
export { createDatabases, type Databases, type DatabasesOptions, type OwnDatabase } from '../adapters/sql/databases.js';
export type { Dialect } from '../adapters/sql/dialects.js';
export type {
  LoadMssql,
  MssqlDriver,
  MssqlPool,
  MssqlRequest,
  MssqlTransaction,
} from '../adapters/sql/mssql-session.js';
export type { DatabaseAddress, DatabaseSession, StatementBounds, Table } from '../adapters/sql/session.js';
export type { References } from '../adapters/tool-event.js';
export type { Newest, NewestOptions } from '../newest.js';
export { createThreadPool, type ThreadPool, type ThreadPoolOptions } from '../threads/thread-pool.js';
export type { JobLimits, ThreadJob, Threads, Transferred } from '../threads/threads.js';
