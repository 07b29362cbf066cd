import { EngineError } from '../../errors.js';
import { type JsonObject, utf8Length } from '../../json.js';

/** Bytes as JSON of the metadata of a document, and of the settings of a document or a dataset: lists have a hundred of them. */
const MAX_BYTES = 131_072;

/** @throws EngineError BAD_REQUEST for more than is stored of `what`; changes add to what is there */
export function requireFitting(what: string, value: JsonObject | undefined): void {
  const bytes = value === undefined ? 0 : utf8Length(JSON.stringify(value));
  if (bytes <= MAX_BYTES) return;
  throw new EngineError('BAD_REQUEST', `${what} would have ${bytes} bytes as JSON, of at most ${MAX_BYTES}.`);
}
