/**
 * The studio's beginning. It is small, so that the files of the screen that is wanted are asked for beside those of the page itself, and not when
 * the page has been drawn.
 */
import { addressPath } from './address.js';
import { SCREENS, screenAt } from './screens.js';

const page = import('./main.js');
const screen = screenAt(addressPath());
// The page loads it again when it draws it, and then says what is wrong.
screen?.load().catch(() => {});
(await page).drawPage(SCREENS, screen);
