/** The name of a node under the pointer, on a ground of its own. */

export interface BoxColours {
  readonly ground: string;
  readonly line: string;
  readonly text: string;
}

interface Labelled {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly color: string;
  readonly label: string | null;
}

interface LabelType {
  readonly labelSize: number;
  readonly labelFont: string;
}

/** Space around the text, in pixels. */
const SPACE = 5;

/** How such a name is drawn. */
export function labelBox({ ground, line, text }: BoxColours) {
  return (context: CanvasRenderingContext2D, { x, y, size, color, label }: Labelled, settings: LabelType): void => {
    context.lineWidth = 2;
    context.strokeStyle = text;
    context.fillStyle = color;
    context.beginPath();
    context.arc(x, y, size + 2, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
    if (label === null || label === '') return;
    context.font = `${settings.labelSize}px ${settings.labelFont}`;
    const { width } = context.measureText(label);
    const [left, height] = [x + size + SPACE, settings.labelSize + 2 * SPACE];
    context.lineWidth = 1;
    context.strokeStyle = line;
    context.fillStyle = ground;
    context.beginPath();
    context.roundRect(left, y - height / 2, width + 2 * SPACE, height, SPACE);
    context.fill();
    context.stroke();
    context.fillStyle = text;
    context.fillText(label, left + SPACE, y + settings.labelSize / 3);
  };
}
