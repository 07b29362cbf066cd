/**
 * `runnel/engine`: graphs of functions, without canvases, models or stores. For libraries that build on the engine: what compiles plans,
 * runs them, reads their events and states.
 */
export { EngineError, type ErrorCode } from '../errors.js';
export { chain, type GraphNode, graph } from '../graph/build.js';
export type { Cells } from '../graph/cells.js';
export { type CompileOptions, compile } from '../graph/compile.js';
export {
  type Activation,
  type AnyComponent,
  type Component,
  createRegistry,
  defineComponent,
  fromOperator,
  type NodeFunction,
  type NodeOperator,
  type Registry,
} from '../graph/component.js';
export { isTerminal, type RunEvent, type TerminalEvent } from '../graph/events.js';
export type { LinkOptions } from '../graph/link.js';
export { type Durability, type EventLog, readEvent } from '../graph/log.js';
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
export type { ErrorHandling, HookContext, Node, Plan, PlanHooks, Scope, Variables } from '../graph/plan.js';
export type { EdgeTables, Reach } from '../graph/reach.js';
export { execute, run } from '../graph/run.js';
export type { RunOptions, RunOutcome, Start } from '../graph/run-options.js';
export type { Checkpoint, FrameState, State, TokenState } from '../graph/state.js';
export type { TokenStatus } from '../graph/tokens.js';
export { type Change, foldState, transition } from '../graph/transition.js';
export type { Json, JsonObject } from '../json.js';
