/** The form of the component that is selected: its name, its parameters, where it leads. */
import { Braces, X } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { DocumentComponent } from '../../../src/dsl/document.js';
import { changeParams, renameComponent } from '../../../src/dsl/edit/index.js';
import { isJsonObject, type JsonObject } from '../../../src/json.js';
import { isContainerType, isStartType, kindOf } from '../../canvas/kinds.js';
import { IconButton } from '../../parts/button.js';
import { useTexts } from '../../shell/texts.js';
import { useEditor, useEditorState } from '../editor-context.js';
import { entryOf } from '../model/catalogue.js';
import { fieldIssues, type Issue } from '../model/problems.js';
import { fieldTexts } from './field-texts.js';
import { FieldView } from './field-view.js';
import { FormNodeProvider } from './form-node.js';
import { IdField } from './id-field.js';
import style from './inspector.module.css';
import { inspectorTexts } from './inspector-texts.js';
import { JOIN_FIELDS } from './join-section.js';
import { JsonField } from './json-widget.js';
import { NoteForm } from './note-form.js';
import { RUN_FIELDS, RunSections } from './run-sections.js';
import { SchemaForm } from './schema-form.js';
import { SizeSection } from './size-section.js';
import { TrialSection } from './trial-section.js';
import { WaysSection } from './ways-section.js';
import { FieldViewProvider } from './widget.js';

export interface InspectorProps {
  readonly issues: readonly Issue[];
  /** A field to go to; a new object each time. */
  readonly goal: { readonly component: string; readonly field: string } | undefined;
  readonly onClose: () => void;
}

export function Inspector({ issues, goal, onClose }: InspectorProps) {
  const words = useTexts(inspectorTexts);
  const { selection, document } = useEditorState();
  const [id] = selection;
  if (id === undefined || selection.length > 1) return null;
  const component = document.components[id];
  return (
    <aside className={style.inspector} aria-label={words.title(component?.name ?? id)}>
      {component === undefined ? (
        <NoteForm key={id} id={id} onClose={onClose} />
      ) : (
        <ComponentForm key={id} component={component} issues={issues} goal={goal} onClose={onClose} />
      )}
    </aside>
  );
}

function ComponentForm({
  component,
  issues,
  goal,
  onClose,
}: InspectorProps & { readonly component: DocumentComponent }) {
  const { store, catalogue } = useEditor();
  const [isJson, setIsJson] = useState(false);
  const body = useRef<HTMLDivElement>(null);
  const { id, type, params } = component;
  const entry = entryOf(catalogue, type);
  const problems = useMemo(() => fieldIssues(issues, id), [issues, id]);
  useGoal(body, goal?.component === id ? goal : undefined);
  const change = (next: JsonObject, about: string) =>
    store.edit((document) => changeParams(document, id, next), { about: `params ${id} ${about}` });
  return (
    <FormNodeProvider value={id}>
      <InspectorHead component={component} isJson={isJson} onJson={setIsJson} onClose={onClose} />
      <div className={style.body} ref={body}>
        {entry !== undefined && <p className={style.summary}>{entry.summary}</p>}
        {[...(problems.get('') ?? [])].map((problem) => (
          <p key={problem} className={style.problem}>
            {problem}
          </p>
        ))}
        {isJson || entry === undefined ? (
          <ParamsJson id={id} params={params} onChange={(next) => change(next, 'json')} />
        ) : (
          <FieldViewProvider value={FieldView}>
            <SchemaForm
              schema={entry.parameters as never}
              params={params}
              path=""
              problems={problems}
              without={canFail(component) ? RUN_FIELDS : JOIN_FIELDS}
              onChange={(next) => change(next, changedName(params, next))}
            />
          </FieldViewProvider>
        )}
        <WaysSection component={component} />
        {!isJson && entry !== undefined && canFail(component) && (
          <FieldViewProvider value={FieldView}>
            <RunSections
              component={component}
              schema={entry.parameters as never}
              problems={problems}
              onChange={(next) => change(next, changedName(params, next))}
            />
          </FieldViewProvider>
        )}
        {(entry?.has_body ?? isContainerType(type)) && <SizeSection id={id} />}
        <TrialSection component={component} />
        <IdField component={component} />
      </div>
    </FormNodeProvider>
  );
}

/** Starts only begin something. */
function canFail({ type }: DocumentComponent): boolean {
  return !isStartType(type) && !['begin', 'file'].includes(type.toLowerCase());
}

interface HeadProps {
  readonly component: DocumentComponent;
  readonly isJson: boolean;
  readonly onJson: (isJson: boolean) => void;
  readonly onClose: () => void;
}

function InspectorHead({ component: { id, type, name }, isJson, onJson, onClose }: HeadProps) {
  const words = useTexts(inspectorTexts);
  const { store, catalogue } = useEditor();
  const { icon: Icon } = kindOf(type, entryOf(catalogue, type) !== undefined || catalogue.size === 0);
  const [text, setText] = useState<string>();
  const rename = (next: string) => {
    setText(next);
    if (next.trim() !== '') store.edit((document) => renameComponent(document, id, next), { about: `name ${id}` });
  };
  return (
    <header className={style.head}>
      <Icon size={17} aria-hidden="true" />
      <input
        aria-label={words.name}
        className={style.name}
        value={text ?? name}
        onChange={(event) => rename(event.target.value)}
        onBlur={() => setText(undefined)}
      />
      <span className={style.type}>{type}</span>
      <IconButton label={words.json} aria-pressed={isJson} onClick={() => onJson(!isJson)}>
        <Braces size={16} aria-hidden="true" />
      </IconButton>
      <IconButton label={words.close} onClick={onClose}>
        <X size={16} aria-hidden="true" />
      </IconButton>
    </header>
  );
}

interface ParamsJsonProps {
  readonly id: string;
  readonly params: JsonObject;
  readonly onChange: (params: JsonObject) => void;
}

function ParamsJson({ id, params, onChange }: ParamsJsonProps) {
  const words = useTexts(inspectorTexts);
  const { noObject } = useTexts(fieldTexts);
  return (
    <JsonField
      label={words.parameters}
      rows={18}
      value={params}
      about={`${id} json`}
      problemOf={(value) => (isJsonObject(value) ? undefined : noObject)}
      onChange={(value) => {
        if (isJsonObject(value)) onChange(value);
      }}
    />
  );
}

/** Goes to the field that a problem is about, and opens what it is folded in. */
function useGoal(body: React.RefObject<HTMLDivElement | null>, goal: InspectorProps['goal']): void {
  useEffect(() => {
    if (goal === undefined) return;
    const field = body.current?.querySelector(`[data-field="${CSS.escape(goal.field)}"]`);
    field?.closest('details')?.setAttribute('open', '');
    const control = field?.querySelector<HTMLElement>('input, textarea, select, button');
    control?.focus();
    control?.scrollIntoView({ block: 'center' });
  }, [body, goal]);
}

/** The field that differs, so that typing on in it is one step. */
function changedName(before: JsonObject, after: JsonObject): string {
  return Object.keys({ ...before, ...after }).find((name) => before[name] !== after[name]) ?? '';
}
