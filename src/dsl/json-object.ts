import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../json.js';

/** The schema of a JSON object, whatever is in it; it is neither copied nor searched. */
export const jsonObject = z.custom<JsonObject>(isJsonObject, 'expected an object');
