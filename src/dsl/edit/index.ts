/** What editors do to a document: pure functions from a document to a document, which browsers can load. */
export { type Addition, addComponent } from './add.js';
export { changeParams, placeComponents, resizeContainer } from './change.js';
export { type Clip, copyComponents, type Pasting, pasteComponents } from './clip.js';
export { type Connection, connect, disconnect, whyNotConnected, whyNotConnectedFrom } from './connect.js';
export type { CutEdge, Edit, Refusal, RefusalCode } from './edit.js';
export { type ErrorHandling, handleErrors } from './error-handling.js';
export type { Places } from './follow-layout.js';
export type { Place } from './layout-parts.js';
export { type Moving, moveComponents } from './move.js';
export { removeComponents } from './remove.js';
export { changeId, renameComponent } from './rename.js';
export { addVariable, changeVariable, readersOfVariable, removeVariable, renameVariable } from './variables.js';
export { allTargetsOf, isSameWay, resolverOf, targetsOf, type Way, waysOf } from './ways.js';
export { type Wrapping, wrapComponents } from './wrap.js';
