/** Where the drawing stands: its files are loaded when a browser can draw it, and else it says why there is none. */
import { Suspense, useMemo } from 'react';
import { laterPart } from '../parts/later-part.js';
import { LoadingNote } from '../parts/notes.js';
import { useTexts } from '../shell/texts.js';
import type { DrawingProps } from './drawing.js';
import style from './graph.module.css';
import { graphTexts } from './graph-texts.js';

const LaterDrawing = laterPart(async () => (await import('./drawing.js')).Drawing);

export function DrawingPlace(props: DrawingProps) {
  const words = useTexts(graphTexts);
  const canDraw = useMemo(hasWebGl, []);
  if (!canDraw) {
    return (
      <p role="status" className={style.hint}>
        {words.noWebGl}
      </p>
    );
  }
  return (
    <Suspense fallback={<LoadingNote />}>
      <LaterDrawing {...props} />
    </Suspense>
  );
}

function hasWebGl(): boolean {
  const context = document.createElement('canvas').getContext('webgl2');
  // Browsers keep a few contexts only.
  context?.getExtension('WEBGL_lose_context')?.loseContext();
  return context !== null;
}
