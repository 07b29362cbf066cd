import { isJsonObject, type JsonObject } from '../../json.js';

/**
 * A form that waits, as text for a client that cannot show a form: what is asked for, the fields, and `how` to answer.
 *
 * `form` has the tips and the fields by name, as the event of a waiting run does.
 */
export function formQuestion({ tips, inputs }: JsonObject, how: string): string {
  const fields = Object.entries(isJsonObject(inputs) ? inputs : {}).map(([key, field]) => {
    const name = isJsonObject(field) && typeof field.name === 'string' ? field.name : key;
    return name === key ? key : `${key} (${name})`;
  });
  const asks = [
    typeof tips === 'string' ? tips.trim() : '',
    fields.length === 0 ? '' : `Fields: ${fields.join(', ')}.`,
  ];
  return ['The agent waits for input.', ...asks.filter((part) => part !== ''), how].join('\n');
}
