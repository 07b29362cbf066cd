/** Names of ways that have none in the document. */
import { defineTexts } from '../shell/texts.js';

export const wayNames = defineTexts({
  en: { case: (number: number) => `Case ${number}`, else: 'else', onError: 'on error' },
  zh: { case: (number: number) => `条件 ${number}`, else: '否则', onError: '出错时' },
});
