import { type Canvas, type LoadOptions, loadCanvas } from '../canvas/load-canvas.js';
import { EngineError } from '../errors.js';
import type { JsonObject } from '../json.js';

/** Opens stored documents; one that was opened before is not compiled again. */
export type OpenCanvas = (dsl: JsonObject) => Canvas;

/**
 * Opens documents and remembers what came out for as long as somebody holds the document.
 *
 * @throws EngineError DOCUMENT_INVALID from the function it gives, with `details.issues`.
 */
export function createCanvasOpener(options: LoadOptions): OpenCanvas {
  const opened = new WeakMap<JsonObject, Canvas>();
  return (dsl) => {
    const known = opened.get(dsl);
    if (known !== undefined) return known;
    const canvas = open(dsl, options);
    opened.set(dsl, canvas);
    return canvas;
  };
}

function open(dsl: JsonObject, options: LoadOptions): Canvas {
  try {
    return loadCanvas(dsl, options);
  } catch (error) {
    // It is stored: whatever is wrong with it is wrong with the data, not with the request.
    if (!EngineError.is(error)) throw error;
    throw new EngineError('DOCUMENT_INVALID', error.message, { details: error.details, cause: error });
  }
}
