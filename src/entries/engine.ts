/**
 * `runnel/engine`: graphs of functions, without canvases, models or stores. For libraries that build on the engine: what compiles plans,
 * runs them, reads their events and states. Types that `runnel` has as well are exported there alone.
 */

// What steps are made of: for libraries that compile or draw them, or make steps of their own.
export { isStep, makeStep, toStep } from '../compose/make-step.js';
export { PLACE } from '../compose/reference.js';
export {
  type Arrived,
  type CodeDefinition,
  DEFINITION,
  type EdgeBlueprint,
  type FieldMapping,
  type GraphBlueprint,
  type InputRule,
  type NodeBlueprint,
  type RouteBlueprint,
  type StepDefinition,
} from '../compose/step.js';
export { EngineError } from '../errors.js';
export { planOf } from '../graph/build.js';
export { isTerminal } from '../graph/events.js';
export { foldState, transition } from '../graph/fold.js';
export type { LinkOptions } from '../graph/link.js';
export { type Durability, type EventLog, readEvent } from '../graph/log.js';
export { fromOperator } from '../graph/node.js';
export {
  callEvent,
  callFinished,
  callStarted,
  delta,
  interrupt,
  notice,
  settled,
  warning,
} from '../graph/node-events.js';
export type { EdgeTables, ErrorHandling, HookContext, Node, PlanHooks, Reach, Scope } from '../graph/plan.js';
export { execute, run } from '../graph/run.js';
export type { ArrivalState, Cells, FrameState, TokenState, TypedFrameState } from '../graph/state.js';
export type { TokenStatus } from '../graph/tokens.js';
export type { StateSpec, TypedNode, TypedScope } from '../graph/typed.js';
export type { ChunkStreamOptions } from '../operators/chunk-stream.js';
