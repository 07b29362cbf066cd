import type { ErrorCode } from '../../../errors.js';

/** What the process of the embedded database sends to the one that started it. */
export type DatabaseMessage =
  | { readonly type: 'preparing' }
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly code: ErrorCode; readonly message: string };
