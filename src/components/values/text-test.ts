/** Compares a text with another one by the name of an operator. */
export type TextTest = (text: string, wanted: string) => boolean;

const equals: TextTest = (text, wanted) => text === wanted;
const differs: TextTest = (text, wanted) => text !== wanted;
const never: TextTest = () => false;

const TESTS: ReadonlyMap<string, TextTest> = new Map([
  ['=', equals],
  ['equals', equals],
  ['≠', differs],
  ['!=', differs],
  ['contains', (text, wanted) => text.includes(wanted)],
  ['start with', (text, wanted) => text.startsWith(wanted)],
  ['end with', (text, wanted) => text.endsWith(wanted)],
]);

/** The operators of filters, for messages and the editor. */
export const TEXT_OPERATORS: readonly string[] = ['=', '≠', 'contains', 'start with', 'end with'];

/**
 * Finds the test that an operator names, in any case; `=` when it is empty. Comparing heeds case.
 *
 * An unknown operator gives a test that nothing passes, as in RAGFlow.
 */
export function textTest(operator: string | null | undefined): TextTest {
  const name = (operator ?? '').trim().toLowerCase();
  return name === '' ? equals : (TESTS.get(name) ?? never);
}
