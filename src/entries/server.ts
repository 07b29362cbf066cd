/**
 * `runnel/server`: runs that outlive their clients and their process, with or without HTTP. For programs that embed the server or work
 * on runs: `createServer` serves canvases, `createHost` alone is a worker; stores, settings and telemetry for both. Knowledge bases are `runnel/knowledge`.
 */

export { postgresSessions } from '../agents/sessions/postgres-sessions.js';
export type { CanvasTool, CanvasToolEvent, CanvasTools } from '../components/services.js';
export type { OpenCanvas } from '../hosting/canvases.js';
export type { EventFrame } from '../hosting/event-frame.js';
export { createHost, type Host, type HostLoad } from '../hosting/host.js';
export { DEFAULT_LIMITS, type HostLimits, type HostOptions, type HostStores } from '../hosting/host-options.js';
export type { RunState } from '../hosting/run-history.js';
export type { ClientCursor, LiveFilter } from '../hosting/run-hub.js';
export type { StartedRun, StartedTurn } from '../hosting/start.js';
export {
  type ForkPoint,
  readStartCommand,
  type StartCommand,
  startCommand,
  type TurnRequest,
  type TurnTarget,
} from '../hosting/start-command.js';
export type { Transcript, TranscriptOptions } from '../hosting/transcript.js';
export { type Log, SILENT_LOG } from '../logger.js';
export type { PriceSettings, RouteSettings } from '../models/configuration.js';
export type { BreakerState } from '../models/routing/breaker.js';
export type { BreakerStore, StoredBreaker } from '../models/routing/breaker-store.js';
export type { FirstPacketTimes } from '../models/routing/first-packet-times.js';
export type { AnswerOptions, ModelRoute, RouteLimits } from '../models/routing/model-route.js';
export type { AfterTokens } from '../models/routing/route-call.js';
export type { RouteTarget, TokenPrice } from '../models/routing/route-target.js';
export { Arrivals, type ArrivalsOptions } from '../operators/arrivals.js';
export type { AgentChange, AgentQuery, AgentRecord, AgentStore } from '../records/agents.js';
export type { BusinessRecords } from '../records/business.js';
export type { CanvasRuntimeStore } from '../records/canvas-runtimes.js';
export type {
  ChatMessageQuery,
  ChatMessageRecord,
  ChatStore,
  ChatSummary,
  PlacedMessage,
  TenantChats,
} from '../records/chats.js';
export type { CreateCounter, EventCount, EventCounter, Lease, LeaseStore, Signals } from '../records/coordination.js';
export type { DraftedFile, FileAbout, FileDraft, FileRecord, FileStore, OpenedFile } from '../records/files.js';
export {
  DEFAULT_QUOTAS,
  type FileUsage,
  type QuotaName,
  type Quotas,
  type Usage,
  type UsageStore,
} from '../records/quotas.js';
export type { Rate, RateAnswer, RateCounter } from '../records/rates.js';
export type {
  Column,
  Filter,
  MemoryBounds,
  Owned,
  Page,
  PageRequest,
  Query,
  Repository,
  RepositoryOf,
  Resource,
  SelectedColumns,
  Tally,
  Unique,
} from '../records/repository.js';
export type { PlainStores, Repositories } from '../records/resources.js';
export type { CommitRun, LeaseAcquisition, RecordChange, RunCommit } from '../records/run-commit.js';
export type { LogBatch, LogBounds, LoggedEvent, RunLog } from '../records/run-log.js';
export type { RunIdentity, RunLaunch, RunQuery, RunRecord, RunStatus, RunStore } from '../records/runs.js';
export type { SaleQuery, SaleRecord, SaleStore } from '../records/sales.js';
export type {
  AppendResult,
  EntryBatch,
  EntryQuery,
  SessionEntries,
  SessionExpiry,
  SessionHead,
  SessionPage,
} from '../records/session-entries.js';
export type {
  SessionMessage,
  SessionQuery,
  SessionRecord,
  SessionStore,
} from '../records/sessions.js';
export type { SharedState, SharedStates } from '../records/shared-states.js';
export type { DailySpending, DayAmount, DayLimits, DayStanding } from '../records/spending.js';
export type { RunSteers, SteerQuery, SteerRecord, SteerStore } from '../records/steers.js';
export type { Stores } from '../records/stores.js';
export type { TicketQuery, TicketRecord, TicketStore } from '../records/tickets.js';
export type { KeyPair, OwnedToken, TokenRecord, TokenStore } from '../records/tokens.js';
export type { VersionQuery, VersionRecord, VersionStore } from '../records/versions.js';
export type { AddressRange } from '../settings/access.js';
export {
  readConfig,
  readSettings,
  type ServerConfig,
  type SettingGroup,
  type Settings,
} from '../settings/read-settings.js';
export type { Setting } from '../settings/setting.js';
export type { DraftFiles } from '../stores/file-draft.js';
export type { DiskFiles } from '../stores/files-on-disk.js';
export type { MemoryFileLimits, MemoryFiles } from '../stores/memory-files.js';
export type { MemoryRunLogLimits } from '../stores/memory-run-log.js';
export { createMemoryStores, type MemoryLimits, type MemoryStores } from '../stores/memory-stores.js';
export type { Database, Notified, Sql, Work } from '../stores/postgres/database.js';
export type { EmbeddedServer } from '../stores/postgres/embedded/start-embedded.js';
export type { DatabaseOptions } from '../stores/postgres/open-database.js';
export type { PruneOptions, PruneResult } from '../stores/postgres/prune.js';
export type { PostgresSignals } from '../stores/postgres/signals.js';
export { openPostgresStores, type PostgresStores, type PostgresStoresOptions } from '../stores/postgres/stores.js';
export type { RedisConfig } from '../stores/redis/redis.js';
export { openRedisStores, type RedisStores, type RedisStoresOptions } from '../stores/redis/redis-stores.js';
export type { ChatMeters } from '../telemetry/chat-meters.js';
export type { GraphMeters, GraphSizes } from '../telemetry/graph-meters.js';
export type {
  Counter,
  Distribution,
  Family,
  Histogram,
  Labels,
  MetricRegistry,
  Mirror,
  Point,
} from '../telemetry/metric-registry.js';
export type { ResearchMeters } from '../telemetry/research-meters.js';
export type { ResearchTally } from '../telemetry/research-tally.js';
export type { EndedRun, RunMeters } from '../telemetry/run-meters.js';
export type { RunWatch, RunWatcher, WatchedRun } from '../telemetry/run-watch.js';
export {
  createTelemetry,
  type Environment as TelemetryEnvironment,
  openTelemetry,
  type Telemetry,
  type TelemetryOptions,
  type TraceIds,
} from '../telemetry/telemetry.js';
export type { SystemMetrics, SystemReading } from '../tools/tool-services.js';
export type { Caller } from '../transport/access/callers.js';
export {
  type Access,
  type AnswerKind,
  type BodyKind,
  type DeclareRoute,
  type Dialect,
  embedderRoute as route,
  type HttpExchange,
  type Method,
  type NamesIn,
  type NoQuery,
  type PathRequest,
  type RequestState,
  type Route,
  type RouteGroup,
  type RouteRequest,
  type RouteSpec,
} from '../transport/http/route.js';
export type { SystemMeter, SystemMeterOptions } from '../transport/http/system-meter.js';
export { createServer, type RunnelServer, type ServerOptions } from '../transport/server.js';
export type {
  ForkRun,
  IndexSizes,
  RouteParts,
  ServerBasics,
  ServerFacts,
  ServerPorts,
  ServerStores,
  StartTurn,
} from '../transport/server-parts.js';
export { readStudio, type Studio, type StudioEncoding, type StudioFile } from '../transport/studio/studio-files.js';
