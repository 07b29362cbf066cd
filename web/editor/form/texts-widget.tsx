/** A list of texts with references, each in a field of its own. */
import { Plus, Trash2 } from 'lucide-react';
import { Button, IconButton } from '../../parts/button.js';
import { useTexts } from '../../shell/texts.js';
import { fieldTexts } from './field-texts.js';
import style from './form.module.css';
import { ReferenceText } from './reference-text.js';
import { textsIn } from './simple-widgets.js';
import type { WidgetProps } from './widget.js';

export function TextsWidget(props: WidgetProps) {
  const { title, id, value, onChange } = props;
  const words = useTexts(fieldTexts);
  const given = textsIn(value);
  const texts = given.length === 0 ? [''] : given;
  return (
    <>
      {texts.map((text, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: texts have no other identity
        <div key={at} className={style.textItem}>
          <ReferenceText
            {...props}
            id={at === 0 ? id : `${id}-${at}`}
            title={words.item(title, at + 1)}
            label={at === 0 ? undefined : words.item(title, at + 1)}
            rows={3}
            value={text}
            onChange={(next) => onChange(texts.map((one, index) => (index === at ? String(next ?? '') : one)))}
          />
          {texts.length > 1 && (
            <IconButton
              label={words.remove(words.item(title, at + 1))}
              onClick={() => onChange(texts.filter((_, index) => index !== at))}
            >
              <Trash2 size={14} aria-hidden="true" />
            </IconButton>
          )}
        </div>
      ))}
      <Button className={style.add} onClick={() => onChange([...texts, ''])}>
        <Plus size={14} aria-hidden="true" /> {words.add(title)}
      </Button>
    </>
  );
}
