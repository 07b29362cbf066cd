/**
 * What is used of the library `opencc-js`: traditional Chinese written in simplified letters. The build puts the library itself into this file,
 * so that its dictionaries of other directions are not installed beside Runnel.
 */
export { Converter } from 'opencc-js/t2cn';
