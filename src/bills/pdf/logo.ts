import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import PDFDocument from 'pdfkit';
import { readFont } from './fonts.js';
import type { Logo } from './invoice.js';

const require = createRequire(import.meta.url);
let ready: Promise<void> | undefined;

/** Sharp on paper at the size that it is printed in, and no larger than a picture for that need be. */
const BOX_PX = { width: 750, height: 270 };

// Unpacked, four bytes a pixel and more; what a logo's upload takes goes beyond.
const MAX_PNG_PX = 16_000_000;

/**
 * A logo as the PDF library draws it right, tried out. A picture that it cannot draw ends the thread: nobody should
 * wait for an invoice in the same one.
 *
 * @throws Error when there is no drawing it
 */
export async function prepareLogo({ mediaType, content }: Logo): Promise<Logo> {
  const bytes = Buffer.from(content);
  const logo = { mediaType, content: bytes };
  if (mediaType === 'image/svg+xml') Object.assign(logo, await paint(bytes.toString(), BOX_PX));
  if (mediaType === 'image/png') Object.assign(logo, await plainPng(bytes));
  await tryOut(logo.content);
  return logo;
}

/** The library draws a transparent colour, or one in a palette of few bits, as something else. */
async function plainPng(png: Buffer): Promise<Logo> {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  if (width * height > MAX_PNG_PX) throw new Error(`A logo of ${width} x ${height} pixels is not unpacked.`);
  const transparency = png.indexOf('tRNS');
  const isPlain = transparency === -1 || transparency > png.indexOf('IDAT');
  if (isPlain) return { mediaType: 'image/png', content: png };
  const box = { width: Math.min(width, BOX_PX.width), height: Math.min(height, BOX_PX.height) };
  return paint(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><image width="${width}"
      height="${height}" href="data:image/png;base64,${png.toString('base64')}"/></svg>`,
    box,
  );
}

/** An SVG as a PNG that fits the box. Nothing outside of it is read; its texts are set in our fonts. */
async function paint(svg: string, box: { width: number; height: number }): Promise<Logo> {
  ready ??= readFile(require.resolve('@resvg/resvg-wasm/index_bg.wasm')).then((wasm) => initWasm(wasm));
  await ready;
  const { width, height } = sizeOf(svg);
  const isWide = width / height > box.width / box.height;
  const fitTo = isWide
    ? ({ mode: 'width', value: box.width } as const)
    : ({ mode: 'height', value: box.height } as const);
  const picture = new Resvg(svg, { fitTo, font: FONTS });
  const rendered = picture.render();
  const content = Buffer.from(rendered.asPng());
  rendered.free();
  picture.free();
  return { mediaType: 'image/png', content };
}

const FAMILY = 'DejaVu Sans';
const FONTS = {
  // about as wide as the fonts that browsers have, for which a logo's texts were fitted
  fontBuffers: [readFont('DejaVuSansCondensed'), readFont('DejaVuSansCondensed-Bold')],
  defaultFontFamily: FAMILY,
  sansSerifFamily: FAMILY,
  serifFamily: FAMILY,
  monospaceFamily: FAMILY,
};

function sizeOf(svg: string): { width: number; height: number } {
  const picture = new Resvg(svg);
  const { width, height } = picture;
  picture.free();
  return { width, height };
}

/** Whether it can be drawn shows when the document is closed: the library unpacks it then. */
async function tryOut(content: Buffer): Promise<void> {
  const doc = new PDFDocument({ size: 'LETTER' });
  doc.image(content, 0, 0, { fit: [100, 100] });
  doc.end();
  for await (const _ of doc);
}
