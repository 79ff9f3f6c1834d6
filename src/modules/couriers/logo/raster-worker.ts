import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import { projectRoot } from '../../../config/project-root.js';
import { makeWorkerTask } from '../../../platform/concurrency/worker-task.js';

// The thread of logo-drawer.ts that draws logos. WebAssembly's memory is outside the heap's limit: what is drawn is bounded by
// its pixels instead, and by the time that the thread is given.

/** What is drawn: an SVG, or a picture of pixels inside of one. A picture of pixels is never enlarged. */
export type Drawing = { svg: string; largest?: { width: number; height: number } };

/** Sharp on paper at the size that it is printed in, and no larger than a picture for that need be. */
const BOX = { width: 750, height: 270 };

const FAMILY = 'DejaVu Sans';
const readFont = (file: string) =>
  readFileSync(join(projectRoot, 'node_modules', 'dejavu-fonts-ttf', 'ttf', `${file}.ttf`));
const FONTS = {
  // about as wide as the fonts that browsers have, for which a logo's texts were fitted
  fontBuffers: [readFont('DejaVuSansCondensed'), readFont('DejaVuSansCondensed-Bold')],
  defaultFontFamily: FAMILY,
  sansSerifFamily: FAMILY,
  serifFamily: FAMILY,
  monospaceFamily: FAMILY,
};

await initWasm(readFileSync(createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm')));

// the first drawing takes the time that it takes to compile
draw({ svg: '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="9">a</text></svg>' });

export default makeWorkerTask(draw);

/** As a PNG that fits the box. Nothing outside of it is read. Undefined when it is blank: nothing of it can be shown. */
function draw({ svg, largest }: Drawing): Uint8Array | undefined {
  const { width, height } = sizeOf(svg);
  const isWide = width / height > BOX.width / BOX.height;
  const fitTo = isWide
    ? ({ mode: 'width', value: Math.min(BOX.width, largest?.width ?? Infinity) } as const)
    : ({ mode: 'height', value: Math.min(BOX.height, largest?.height ?? Infinity) } as const);
  const picture = new Resvg(svg, { fitTo, font: FONTS });
  const rendered = picture.render();
  const png = isBlank(rendered.pixels) ? undefined : rendered.asPng();
  rendered.free();
  picture.free();
  return png;
}

function sizeOf(svg: string): { width: number; height: number } {
  const picture = new Resvg(svg);
  const { width, height } = picture;
  picture.free();
  return { width, height };
}

/** Whether no pixel has any opacity, every fourth byte of RGBA. */
function isBlank(pixels: Uint8Array): boolean {
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] !== 0) return false;
  return true;
}
