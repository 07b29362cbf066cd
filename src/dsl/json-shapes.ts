/**
 * Shapes of what documents hold, in zod's small form: browsers read documents as well, and the methods of its full form are most of what they
 * would load for that.
 */
import { custom, nullish } from 'zod/mini';
import { isJsonObject, type JsonObject } from '../json.js';

/** A JSON object, whatever is in it; it is neither copied nor searched. */
export const objectShape = custom<JsonObject>(isJsonObject, 'expected an object');

/** The same, or nothing. */
export const optionalObject = nullish(objectShape);
