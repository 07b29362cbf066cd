/**
 * Component types that golden cases use and that are not built yet: their cases are listed as `todo`, not passed over.
 *
 * A type leaves this list in the change that adds it to the registry; a test fails otherwise.
 */
export const EXPECTED_GAPS: readonly string[] = ['Agent', 'ExcelProcessor', 'Invoke'];
