/** The syntax tree of a Jinja template. */

import type { Reference, TemplatePart } from '../../dsl/reference.js';
import type { Json } from '../../json.js';

/** An expression. */
export type Expression =
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'interpolation'; readonly parts: readonly TemplatePart[] }
  | { readonly kind: 'reference'; readonly reference: Reference; readonly text: string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  | { readonly kind: 'dict'; readonly entries: readonly (readonly [Expression, Expression])[] }
  | { readonly kind: 'attribute'; readonly object: Expression; readonly name: string }
  | { readonly kind: 'item'; readonly object: Expression; readonly index: Expression }
  | ({ readonly kind: 'slice'; readonly object: Expression } & SliceBounds)
  | { readonly kind: 'call'; readonly callee: Expression; readonly args: CallArguments }
  | { readonly kind: 'filter'; readonly operand: Expression; readonly filter: FilterCall }
  | { readonly kind: 'test'; readonly operand: Expression; readonly name: string; readonly args: CallArguments }
  | { readonly kind: 'sign'; readonly operator: '-' | '+'; readonly operand: Expression }
  | { readonly kind: 'binary'; readonly operator: string; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'concat'; readonly parts: readonly Expression[] }
  | { readonly kind: 'logic'; readonly operator: 'and' | 'or'; readonly operands: readonly Expression[] }
  | { readonly kind: 'not'; readonly operand: Expression }
  | { readonly kind: 'compare'; readonly first: Expression; readonly rest: readonly (readonly [string, Expression])[] }
  | {
      readonly kind: 'conditional';
      readonly test: Expression;
      readonly then: Expression;
      readonly otherwise: Expression | undefined;
    };

/** The bounds of `[start:stop:step]`. */
export interface SliceBounds {
  readonly start: Expression | undefined;
  readonly stop: Expression | undefined;
  readonly step: Expression | undefined;
}

/** The arguments of a call, with `*list` and `**dict` at its end. */
export interface CallArguments {
  readonly positional: readonly Expression[];
  readonly keyword: readonly (readonly [string, Expression])[];
  readonly spread: Expression | undefined;
  readonly spreadKeywords: Expression | undefined;
}

/** One filter with its arguments. */
export interface FilterCall {
  readonly name: string;
  readonly args: CallArguments;
}

/** What a loop, a `set` or a `with` assigns to. */
export type Target =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'tuple'; readonly targets: readonly Target[] }
  | { readonly kind: 'attribute'; readonly object: string; readonly name: string };

/** A parameter of a macro. */
export interface Parameter {
  readonly name: string;
  readonly fallback: Expression | undefined;
}

/** A macro, or the body of a call block. */
export interface MacroShape {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly body: readonly Statement[];
}

/** A loop over items. */
export interface ForStatement {
  readonly kind: 'for';
  readonly target: Target;
  readonly iterable: Expression;
  readonly condition: Expression | undefined;
  readonly recursive: boolean;
  readonly body: readonly Statement[];
  readonly otherwise: readonly Statement[];
  readonly line: number;
}

/** A statement, a piece of text or an output. */
export type Statement = { readonly line: number } & (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'text-reference'; readonly reference: Reference; readonly text: string }
  | { readonly kind: 'output'; readonly expression: Expression }
  | ForStatement
  | {
      readonly kind: 'if';
      readonly branches: readonly { readonly test: Expression; readonly body: readonly Statement[] }[];
      readonly otherwise: readonly Statement[];
    }
  | { readonly kind: 'set'; readonly target: Target; readonly value: Expression }
  | {
      readonly kind: 'capture';
      readonly target: Target;
      readonly filters: readonly FilterCall[];
      readonly body: readonly Statement[];
    }
  | {
      readonly kind: 'with';
      readonly assignments: readonly (readonly [Target, Expression])[];
      readonly body: readonly Statement[];
    }
  | { readonly kind: 'macro'; readonly macro: MacroShape }
  | { readonly kind: 'call-block'; readonly call: Expression & { kind: 'call' }; readonly caller: MacroShape }
  | { readonly kind: 'filter-block'; readonly filters: readonly FilterCall[]; readonly body: readonly Statement[] }
  | { readonly kind: 'scope'; readonly body: readonly Statement[] }
  | { readonly kind: 'break' }
  | { readonly kind: 'continue' }
);
