/** What is wrong with the draft: a list that leads to each field. */
import { CircleAlert, CircleCheck } from 'lucide-react';
import { Button } from '../parts/button.js';
import { Menu } from '../parts/menu.js';
import { MenuItem } from '../parts/menu-item.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './editor.module.css';
import { useEditor } from './editor-context.js';
import { fieldOfIssue, type Issue } from './model/problems.js';

const texts = defineTexts({
  en: {
    none: 'No problems',
    problems: (count: number) => (count === 1 ? '1 problem' : `${count} problems`),
    more: (count: number) => `${count} more`,
  },
  zh: {
    none: '没有问题',
    problems: (count: number) => `${count} 个问题`,
    more: (count: number) => `还有 ${count} 个`,
  },
});

/** Problems that are listed at once. */
const MAX_LISTED = 50;

interface ProblemsMenuProps {
  readonly issues: readonly Issue[];
  readonly onIssue: (issue: Issue) => void;
}

export function ProblemsMenu({ issues, onIssue }: ProblemsMenuProps) {
  const words = useTexts(texts);
  const { store } = useEditor();
  if (issues.length === 0) {
    return (
      <span className={style.saved}>
        <CircleCheck size={13} aria-hidden="true" /> {words.none}
      </span>
    );
  }
  const hasErrors = issues.some(({ severity }) => severity === 'error');
  const sorted = issues.toSorted((one, other) => one.severity.localeCompare(other.severity));
  return (
    <Menu
      opener={
        <Button look="quiet" className={hasErrors ? style.error : style.warning}>
          <CircleAlert size={15} aria-hidden="true" /> {words.problems(issues.length)}
        </Button>
      }
    >
      <div className={style.problems}>
        {sorted.slice(0, MAX_LISTED).map((issue, number) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: problems have no other identity
          <MenuItem key={number} onSelect={() => onIssue(issue)}>
            <span>
              <small className={style[issue.severity]}>{placeOf(issue, store.document.components)}</small>
              {issue.message}
            </span>
          </MenuItem>
        ))}
        {issues.length > MAX_LISTED && <p>{words.more(issues.length - MAX_LISTED)}</p>}
      </div>
    </Menu>
  );
}

function placeOf(issue: Issue, components: Readonly<Record<string, { readonly name: string }>>): string {
  const { component, path } = issue;
  if (component === undefined) return path;
  return [components[component]?.name ?? component, fieldOfIssue(issue)].filter(Boolean).join(' › ');
}
