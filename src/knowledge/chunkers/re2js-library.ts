/** What is used of the library `re2js`: regular expressions in linear time. The build puts it into this file, one of the package's two builds. */
export { RE2JS } from 're2js';
