/** The fields of f-strings as a type, read from the literal types of their texts. */
import type { ChatMessage } from '../../models/messages.js';
import type { MessagesPlaceholder, MessageTemplate, PromptPart } from './message-template.js';

/** Ends of specifications that are for numbers alone. */
type NumberEnd = 'b' | 'd' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n' | 'o' | 'x' | 'X' | '%' | ',' | '_' | '+';

/** What stands in the braces of a text. Tail recursive: a text may have a thousand fields. */
type Written<T extends string, Found extends string = never> = T extends `${string}{${infer Rest}`
  ? Rest extends `{${infer After}`
    ? Written<After, Found>
    : Rest extends `${infer Field}}${infer After}`
      ? Written<After, Found | Field>
      : Found
  : Found;

type NameOf<F extends string> = F extends `${infer N}:${string}` ? N : F;
type NumberName<F extends string> = F extends `${infer N}:${string}${NumberEnd}` ? N : never;
type TextName<F extends string> = F extends `${infer N}:${infer S}` ? (S extends '' | `${string}s` ? N : never) : F;

type ValueOf<N, F extends string> = N extends NumberName<F> ? number : N extends TextName<F> ? string : string | number;

type TextOf<P> = P extends MessageTemplate<infer T> ? T : never;
type RequiredName<P> = P extends MessagesPlaceholder<infer N, false> ? N : never;
type OptionalName<P> = P extends MessagesPlaceholder<infer N, true> ? N : never;

type Flat<T> = { [K in keyof T]: T[K] } & {};

type FieldsOf<F extends string, P> = Flat<
  { [N in NameOf<F>]: ValueOf<N, F> } & { [N in RequiredName<P>]: readonly ChatMessage[] } & {
    [N in Exclude<OptionalName<P>, RequiredName<P>>]?: readonly ChatMessage[] | undefined;
  }
>;

/**
 * What a prompt of f-strings needs: a text for a field, a number for one with a specification for numbers, either for other
 * specifications, a list of messages for a placeholder. Texts that are not literal have fields that the compiler does not know:
 * `Record<string, unknown>`.
 */
export type FStringFields<Parts extends readonly PromptPart[]> =
  string extends TextOf<Parts[number]>
    ? Record<string, unknown>
    : FieldsOf<Written<TextOf<Parts[number]>>, Parts[number]>;
