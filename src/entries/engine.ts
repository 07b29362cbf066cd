/**
 * `runnel/engine`: graphs of functions, without canvases, models or stores. For libraries that build on the engine: what compiles plans,
 * runs them, reads their events and states.
 */

export { type CompileOptions, compile } from '../canvas/compile.js';
export {
  type AnyComponent,
  type Component,
  createRegistry,
  defineComponent,
  type Registry,
} from '../components/component.js';
export { EngineError, type ErrorCode } from '../errors.js';
export { chain, type GraphNode, graph } from '../graph/build.js';
export { isTerminal, type RunEvent, type TerminalEvent } from '../graph/events.js';
export type { LinkOptions } from '../graph/link.js';
export { type Durability, type EventLog, readEvent } from '../graph/log.js';
export { type Activation, fromOperator, type NodeFunction, type NodeOperator } from '../graph/node.js';
export {
  callEvent,
  callFinished,
  callStarted,
  delta,
  interrupt,
  type NodeEvent,
  notice,
  type Outputs,
  settled,
  warning,
} from '../graph/node-events.js';
export type {
  EdgeTables,
  ErrorHandling,
  HookContext,
  Node,
  Plan,
  PlanHooks,
  Reach,
  Scope,
  Variables,
} from '../graph/plan.js';
export { execute, run } from '../graph/run.js';
export type { RunOptions, RunOutcome, Start } from '../graph/run-options.js';
export type { Cells, Checkpoint, FrameState, State, TokenState } from '../graph/state.js';
export type { TokenStatus } from '../graph/tokens.js';
export { type Change, foldState, transition } from '../graph/transition.js';
export type { Json, JsonObject } from '../json.js';
