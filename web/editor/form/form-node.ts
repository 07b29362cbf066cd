/** The component whose form is shown. */
import { createContext, useContext } from 'react';

const FormNodeContext = createContext('');

export const FormNodeProvider = FormNodeContext;

export function useFormNode(): string {
  return useContext(FormNodeContext);
}
