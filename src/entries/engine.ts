/**
 * `runnel/engine`: graphs of functions, without canvases, models or stores. For libraries that build on the engine: what compiles plans,
 * runs them, reads their events and states. Types that `runnel` has as well are exported there alone.
 */

// What steps are made of: for libraries that compile or draw them, or make steps of their own.
export { isStep, makeStep, toStep } from '../compose/make-step.js';
export type {
  FStringFieldsOf,
  FStringFlat,
  FStringName,
  FStringNames,
  FStringNumberEnd,
  FStringNumberName,
  FStringOptionalName,
  FStringRequiredName,
  FStringTextName,
  FStringTextOf,
  FStringValue,
} from '../compose/prompt/f-string-fields.js';
export type { FilledKey, FilledType, TextsIn, TextsInPart } from '../compose/prompt/message-template.js';
export {
  type BareRef,
  type FieldsOf,
  type ItemsOf,
  type Leaf,
  type Missing,
  type Move,
  PLACE,
  type Unmapped,
} from '../compose/reference.js';
export {
  type Arrived,
  type CodeDefinition,
  DEFINITION,
  type EdgeBlueprint,
  type FieldMapping,
  type GraphBlueprint,
  type InputRule,
  type NodeBlueprint,
  type PassRules,
  type PassStanding,
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
  type Call,
  type CallAttributes,
  type CallEnd,
  type CallKind,
  type CallMoment,
  type CallReport,
  type CallStart,
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
export type { StatePatch } from '../graph/state-cell.js';
export type { TokenStatus } from '../graph/tokens.js';
export type { Change } from '../graph/transition.js';
export type {
  ChunkInput,
  ResultSink,
  StateSpec,
  StoredValue,
  TypedEdge,
  TypedNode,
  TypedScope,
  ValueCodec,
} from '../graph/typed.js';
export type { ChunkReader, Room, WhenFull } from '../operators/chunk-reader.js';
export type { ChunkStreamOptions } from '../operators/chunk-stream.js';
