/** A list of objects, each as a card of its fields. */
import { ArrowUp, Plus, Trash2 } from 'lucide-react';
import { isJsonObject, type Json } from '../../../src/json.js';
import { Button, IconButton } from '../../parts/button.js';
import { useTexts } from '../../shell/texts.js';
import { firstValue, resolveSchema } from '../model/starters.js';
import { itemsOf } from './field-model.js';
import { fieldTexts } from './field-texts.js';
import style from './form.module.css';
import { ObjectFields } from './object-widget.js';
import type { WidgetProps } from './widget.js';

export function ListWidget({ field, title, value, onChange, path }: WidgetProps) {
  const words = useTexts(fieldTexts);
  const items = itemsOf(value);
  const schema = resolveSchema(field.schema.items, field.root);
  const replace = (at: number, next: Json) => onChange(items.map((one, index) => (index === at ? next : one)));
  const swap = (at: number) => {
    const [before, own] = [items[at - 1] as Json, items[at] as Json];
    onChange([...items.slice(0, at - 1), own, before, ...items.slice(at + 1)]);
  };
  return (
    <>
      <ol className={style.items}>
        {items.map((item, at) => {
          const name = words.item(title, at + 1);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: items have no other identity, and keep their fields by it
            <li key={at} className={style.item} aria-label={name}>
              <div className={style.itemHead}>
                <span>{at + 1}</span>
                {at > 0 && (
                  <IconButton label={words.up(name)} onClick={() => swap(at)}>
                    <ArrowUp size={14} aria-hidden="true" />
                  </IconButton>
                )}
                <IconButton
                  label={words.remove(name)}
                  onClick={() => onChange(items.filter((_, index) => index !== at))}
                >
                  <Trash2 size={14} aria-hidden="true" />
                </IconButton>
              </div>
              <ObjectFields
                schema={schema}
                root={field.root}
                value={isJsonObject(item) ? item : {}}
                onChange={(next) => replace(at, next)}
                path={`${path}.${at}`}
              />
            </li>
          );
        })}
      </ol>
      <Button className={style.add} onClick={() => onChange([...items, firstValue(schema, field.root)])}>
        <Plus size={14} aria-hidden="true" /> {words.add(title)}
      </Button>
    </>
  );
}
