import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import { projectRoot } from '../../../config/project-root.js';
import { limitMemory } from './memory-limit.js';

/** An SVG, or a raster picture embedded in one. A raster picture is never enlarged. */
export type Drawing = { svg: string; largest?: { width: number; height: number } };

/** The maximum size in pixels, sharp at the printed size. */
const BOX = { width: 750, height: 270 };

const FAMILY = 'DejaVu Sans';
const readFont = (file: string) =>
  readFileSync(join(projectRoot, 'node_modules', 'dejavu-fonts-ttf', 'ttf', `${file}.ttf`));
const FONTS = {
  // About as wide as the fonts of browsers, for which the texts of logos are designed.
  fontBuffers: [readFont('DejaVuSansCondensed'), readFont('DejaVuSansCondensed-Bold')],
  defaultFontFamily: FAMILY,
  sansSerifFamily: FAMILY,
  serifFamily: FAMILY,
  monospaceFamily: FAMILY,
};

/**
 * Loads the renderer into this thread. The heap limit of a thread does not cover WebAssembly's memory, so it has a limit of its own.
 * @returns a function that draws pictures. It throws if the memory is used up, which leaves the renderer unusable
 */
export async function loadRenderer(maxMemoryMib: number): Promise<typeof draw> {
  const wasm = createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm');
  await initWasm(limitMemory(readFileSync(wasm), maxMemoryMib));
  // The first drawing compiles the WebAssembly module, so it is done before the thread runs a task.
  draw({ svg: '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="9">a</text></svg>' });
  return draw;
}

/** Returns a PNG that fits the box, or undefined if it is blank. Reads no external resources. */
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

/** Returns whether all pixels are fully transparent (every fourth byte of RGBA). */
function isBlank(pixels: Uint8Array): boolean {
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] !== 0) return false;
  return true;
}
