import type { Activation } from '../graph/component.js';
import type { Services } from './services.js';

/** Makes a file of Markdown text, in one format. */
export type Converter = (markdown: string) => Uint8Array | Promise<Uint8Array>;

/** The services that a node can do without. */
export interface OptionalServices extends Partial<Services> {
  /** By format, such as `pdf`, `docx` or `xlsx`. */
  readonly converters?: Readonly<Partial<Record<string, Converter>>>;
}

/** The services of the run that an activation belongs to; none when the run was started without. */
export function optionalServices({ services }: Activation): OptionalServices {
  return typeof services === 'object' && services !== null ? services : {};
}
