/** A script, in the language that is said beside it. */
import { ownText, ownValue } from '../../../src/dsl/json-copy.js';
import type { Json } from '../../../src/json.js';
import { CodeField } from '../../parts/code-field/code-field.js';
import { useEditor } from '../editor-context.js';
import { useFormNode } from './form-node.js';
import type { WidgetProps } from './widget.js';

export function CodeWidget({ id, title, value, onChange, path }: WidgetProps) {
  const { store } = useEditor();
  const node = useFormNode();
  let beside: Json | undefined = store.document.components[node]?.params;
  for (const step of path.split('.').slice(0, -1)) beside = ownValue(beside, step);
  const isPython = (ownText(beside, 'lang') ?? 'python').toLowerCase().startsWith('python');
  return (
    <CodeField
      id={id}
      label={title}
      language={isPython ? 'python' : 'javascript'}
      rows={8}
      value={typeof value === 'string' ? value : ''}
      onChange={onChange}
    />
  );
}
