/** What is used of the library `fastest-levenshtein`. The build puts it into this file, so that a page of code is no package of an installation. */
export { distance } from 'fastest-levenshtein';
