import uPlot from "uplot";
import type { LostRange } from "~/util/lost";
import { cssColor } from "./palette";

const STRIPES_PX = 7;
/** A short loss stays visible in a long range. */
const WIDTH_MIN_PX = 3;

/** Hatches the ranges whose history was lost, below grid and lines. */
export function lostBands(lost: () => readonly LostRange[]): uPlot.Plugin {
  const draw = (plot: uPlot) => {
    const { ctx, bbox } = plot;
    const step = STRIPES_PX * uPlot.pxRatio;
    for (const { from, till } of lost()) {
      const left = Math.max(plot.valToPos(from, "x", true), bbox.left);
      const right = Math.min(plot.valToPos(till, "x", true), bbox.left + bbox.width);
      if (!(right >= left)) continue;
      const width = Math.max(right - left, WIDTH_MIN_PX * uPlot.pxRatio);
      ctx.save();
      ctx.beginPath();
      ctx.rect(left, bbox.top, width, bbox.height);
      ctx.clip();
      ctx.globalAlpha = 0.1;
      ctx.fillStyle = cssColor("--faint");
      ctx.fill();
      ctx.globalAlpha = 0.35;
      ctx.strokeStyle = cssColor("--faint");
      ctx.lineWidth = uPlot.pxRatio;
      ctx.beginPath();
      // Stripes start at multiples of the step, so that bands next to each other match.
      const first = Math.floor((left - bbox.height) / step) * step;
      for (let x = first; x < left + width; x += step) {
        ctx.moveTo(x, bbox.top + bbox.height);
        ctx.lineTo(x + bbox.height, bbox.top);
      }
      ctx.stroke();
      ctx.restore();
    }
  };
  return { hooks: { drawClear: draw } };
}
