/** A value of any type: a text, as most are, or JSON. */

import { JsonWidget } from './json-widget.js';
import { ReferenceText } from './reference-text.js';
import type { WidgetProps } from './widget.js';

export function AnyWidget(props: WidgetProps) {
  const { value } = props;
  const isText = value === undefined || value === null || typeof value === 'string';
  return isText ? <ReferenceText {...props} rows={1} /> : <JsonWidget {...props} />;
}
