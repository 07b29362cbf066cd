/** Schemas are checked without making code of texts, which the policy of this page forbids: asked before the first schema is made. */
import { config } from 'zod/v4/core';

config({ jitless: true });
