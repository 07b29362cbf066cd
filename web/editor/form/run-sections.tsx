/** How a component runs, whatever it does: when it begins, and what happens when it fails. */
import { ERROR_FIELDS, ErrorSection, type SectionProps } from './error-section.js';
import { JOIN_FIELDS, JoinSection } from './join-section.js';

/** Fields that stand in these sections. */
export const RUN_FIELDS: ReadonlySet<string> = new Set([...JOIN_FIELDS, ...ERROR_FIELDS]);

export function RunSections(props: SectionProps) {
  return (
    <>
      <JoinSection {...props} />
      <ErrorSection {...props} />
    </>
  );
}
