/** The fields of f-strings as a type, read from the literal types of their texts. */
import type { ChatMessage } from '../../models/messages.js';
import type { MessagesPlaceholder, MessageTemplate, PromptPart } from './message-template.js';

/** Ends of specifications that are for numbers alone. */
export type FStringNumberEnd =
  | 'b'
  | 'd'
  | 'e'
  | 'E'
  | 'f'
  | 'F'
  | 'g'
  | 'G'
  | 'n'
  | 'o'
  | 'x'
  | 'X'
  | '%'
  | ','
  | '_'
  | '+';

/** What stands in the braces of a text. Tail recursive: a text may have a thousand fields. */
export type FStringNames<T extends string, Found extends string = never> = T extends `${string}{${infer Rest}`
  ? Rest extends `{${infer After}`
    ? FStringNames<After, Found>
    : Rest extends `${infer Field}}${infer After}`
      ? FStringNames<After, Found | Field>
      : Found
  : Found;

/** The name of a field, without its specification. */
export type FStringName<F extends string> = F extends `${infer N}:${string}` ? N : F;
/** The name of a field whose specification is for numbers alone. */
export type FStringNumberName<F extends string> = F extends `${infer N}:${string}${FStringNumberEnd}` ? N : never;
/** The name of a field that is a text. */
export type FStringTextName<F extends string> = F extends `${infer N}:${infer S}`
  ? S extends '' | `${string}s`
    ? N
    : never
  : F;

/** What a field of that name has to be. */
export type FStringValue<N, F extends string> =
  N extends FStringNumberName<F> ? number : N extends FStringTextName<F> ? string : string | number;

/** The literal texts of a part of a prompt. */
export type FStringTextOf<P> = P extends MessageTemplate<infer T> ? T : never;
/** The name of a placeholder that needs messages. */
export type FStringRequiredName<P> = P extends MessagesPlaceholder<infer N, false> ? N : never;
/** The name of a placeholder that may be left out. */
export type FStringOptionalName<P> = P extends MessagesPlaceholder<infer N, true> ? N : never;

/** The same fields as one object type. */
export type FStringFlat<T> = { [K in keyof T]: T[K] } & {};

/** The fields of literal texts and placeholders. */
export type FStringFieldsOf<F extends string, P> = FStringFlat<
  { [N in FStringName<F>]: FStringValue<N, F> } & { [N in FStringRequiredName<P>]: readonly ChatMessage[] } & {
    [N in Exclude<FStringOptionalName<P>, FStringRequiredName<P>>]?: readonly ChatMessage[] | undefined;
  }
>;

/**
 * What a prompt of f-strings needs: a text for a field, a number for one with a specification for numbers, either for other
 * specifications, a list of messages for a placeholder. Texts that are not literal have fields that the compiler does not know:
 * `Record<string, unknown>`.
 */
export type FStringFields<Parts extends readonly PromptPart[]> =
  string extends FStringTextOf<Parts[number]>
    ? Record<string, unknown>
    : FStringFieldsOf<FStringNames<FStringTextOf<Parts[number]>>, Parts[number]>;
