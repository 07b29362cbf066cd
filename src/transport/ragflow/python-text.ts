/** JSON values as Python prints them, which RAGFlow's messages hold. */

/** Longest text of a value, in UTF-16 units. */
const MAX_LENGTH = 128;

/** A value as `str` of Python prints it: `None`, `True`, `{'a': 1}`; a long one is cut. */
export function pythonText(value: unknown, isFloat = false): string {
  const text =
    typeof value === 'string'
      ? value
      : isFloat && Number.isInteger(value)
        ? `${value}.0`
        : pythonLiteral(value, MAX_LENGTH + 1);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 3)}...` : text;
}

/** A value as `repr` of Python prints it. @param room stops behind so many letters. @default all of it */
export function pythonLiteral(value: unknown, room = Number.POSITIVE_INFINITY): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return quoted(value.slice(0, room));
  if (typeof value !== 'object') return String(value);
  const isList = Array.isArray(value);
  let text = isList ? '[' : '{';
  for (const [name, item] of isList ? value.entries() : Object.entries(value)) {
    if (text.length >= room) return text;
    if (text.length > 1) text += ', ';
    if (!isList) text += `${quoted(String(name))}: `;
    text += pythonLiteral(item, room - text.length);
  }
  return text + (isList ? ']' : '}');
}

/** The name of the type of a value. */
export function pythonType(value: unknown): string {
  if (value === null || value === undefined) return 'NoneType';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return typeof value === 'string' ? 'str' : 'dict';
}

function quoted(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');
  return `${mark}${mark === "'" ? escaped.replaceAll("'", "\\'") : escaped}${mark}`;
}
