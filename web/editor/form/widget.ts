/** What widgets are given, and how those that hold fields draw them. */
import { type ComponentType, createContext, useContext } from 'react';
import type { Json } from '../../../src/json.js';
import type { Field } from './field-model.js';

/** What every widget is given. */
export interface WidgetProps {
  readonly field: Field;
  /** Of the element that is named by the label. */
  readonly id: string;
  readonly title: string;
  readonly value: Json | undefined;
  /** Undefined takes the value away. */
  readonly onChange: (value: Json | undefined) => void;
  /** Where it stands: names and numbers with dots. */
  readonly path: string;
}

export interface FieldViewProps extends Pick<WidgetProps, 'field' | 'value' | 'onChange' | 'path'> {
  /** What is wrong with it. */
  readonly problems?: readonly string[];
}

/** Fields lie in widgets, and widgets in fields: the first one brings how a field is drawn. */
const FieldViewContext = createContext<ComponentType<FieldViewProps>>(() => null);

export const FieldViewProvider = FieldViewContext;

export function useFieldView(): ComponentType<FieldViewProps> {
  return useContext(FieldViewContext);
}
