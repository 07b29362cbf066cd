/** The model that graphs ask, as those hand it in who have one. */
import type { Observable } from 'rxjs';
import type { JsonObject } from '../../../json.js';

/** One question to a model, which answers with one JSON object. */
export interface GraphModelQuestion {
  /** Name of the schema, such as `community_report`. */
  readonly name: string;
  /** JSON schema of the answer. */
  readonly schema: JsonObject;
  /** What to do, for the model. */
  readonly task: string;
  /** The last message, as JSON. */
  readonly input: JsonObject;
  /** Tokens of the answer at most. */
  readonly maxTokens: number;
}

/** A model that is asked about graphs. */
export interface GraphModel {
  readonly name: string;
  /**
   * Asks; emits the object once. Cold: unsubscribing closes the connection.
   *
   * Errors: MODEL_RESPONSE for an answer that holds no object; those of the model.
   */
  ask(question: GraphModelQuestion): Observable<JsonObject>;
}

/** A model of a tenant by its id, the empty one being the default; undefined when there is none. */
export type FindGraphModel = (tenant: string, model: string) => GraphModel | undefined;
