import uPlot from "uplot";

/** A span of time behind the lines, such as a problem. */
export interface Shade {
  from: number;
  till: number;
  /** A CSS colour. */
  color: string;
}

/** A horizontal line, such as a percentile or the limit of a trigger. */
export interface Limit {
  value: number;
  /** A CSS colour. */
  color: string;
  right?: boolean;
}

const DASH_PX = [6, 4];
const SHADE_ALPHA = 0.16;
/** A short span stays visible in a long range. */
const WIDTH_MIN_PX = 2;

/** Draws spans behind the lines and limits above them. */
export function marks(
  shades: () => readonly Shade[],
  limits: () => readonly Limit[],
): uPlot.Plugin {
  const drawShades = (plot: uPlot) => {
    const { ctx, bbox } = plot;
    for (const { from, till, color } of shades()) {
      const left = Math.max(plot.valToPos(from, "x", true), bbox.left);
      const right = Math.min(plot.valToPos(till, "x", true), bbox.left + bbox.width);
      if (!(right >= left)) continue;
      ctx.save();
      ctx.globalAlpha = SHADE_ALPHA;
      ctx.fillStyle = color;
      ctx.fillRect(
        left,
        bbox.top,
        Math.max(right - left, WIDTH_MIN_PX * uPlot.pxRatio),
        bbox.height,
      );
      ctx.restore();
    }
  };
  const drawLimits = (plot: uPlot) => {
    const { ctx, bbox } = plot;
    for (const { value, color, right } of limits()) {
      const y = plot.valToPos(value, right && plot.scales.y2 ? "y2" : "y", true);
      if (!(y >= bbox.top && y <= bbox.top + bbox.height)) continue;
      ctx.save();
      ctx.strokeStyle = color;
      ctx.lineWidth = 1.5 * uPlot.pxRatio;
      ctx.setLineDash(DASH_PX.map((px) => px * uPlot.pxRatio));
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
      ctx.restore();
    }
  };
  return { hooks: { drawClear: drawShades, draw: drawLimits } };
}
