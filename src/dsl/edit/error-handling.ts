/** What happens when a component fails. */
import type { JsonObject } from '../../json.js';
import type { Document } from '../document.js';
import { omitKeys, ownValue } from '../json-copy.js';
import { changeParams } from './change.js';
import { type Edit, isBodyStart, isEntryType, refuse, refuseUnknown } from './edit.js';

/** `none`: the run fails. `goto`: the run goes on at other components, where the error exit leads. `comment`: the component gives a value. */
export type ErrorHandling = 'none' | 'goto' | 'comment';

const KEYS: ReadonlySet<string> = new Set(['exception_method', 'exception_goto', 'exception_default_value']);

/**
 * Says what happens when a component fails. An error exit leads nowhere until it is connected; `none` takes exits and value away, for they
 * would have no effect.
 */
export function handleErrors(document: Document, id: string, handling: ErrorHandling): Edit {
  const component = document.components[id];
  if (component === undefined) return refuseUnknown(id);
  if (isEntryType(component.type) || isBodyStart(component))
    return refuse('no-such-way', `"${component.name}" is a start, which cannot fail.`);
  const { params } = component;
  if (handling === 'none') return changeParams(document, id, omitKeys(params, KEYS));
  const value = ownValue(params, 'exception_default_value');
  const given: JsonObject = handling === 'comment' && value === undefined ? { exception_default_value: '' } : {};
  return changeParams(document, id, { ...params, exception_method: handling, ...given });
}
