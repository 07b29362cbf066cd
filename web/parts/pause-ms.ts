/** How long the page waits before it asks again by itself for a file of its own that did not come. */
import { doubling } from '../../src/operators/retry-with.js';

/** The pause behind the failed attempt with this number, from 1, in milliseconds: it doubles with each one, up to a limit. */
export const pauseMs = doubling(500, 10_000);
